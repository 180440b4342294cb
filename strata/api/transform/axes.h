// Names of axes: vmap binds one while its function runs, and collective functions (lax/parallel.h)
// ask for it.
//
//   vmap([](Array x) { return x / lax::psum(x, "i"); }, {.axis_name = "i"})(xs)
//
// shard_map, when it comes, binds the axes of its mesh in the same place, each with a place of its
// own along it (op/collective/named_axis.h).
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "strata/api/array.h"

namespace strata {

/// One name of an axis or several, the most significant first: `"i"`, `{"i", "j"}`.
class AxisNames {
 public:
  AxisNames(const char* name) : names_{name} {}             // NOLINT: implicit by intent
  AxisNames(std::string name) : names_{std::move(name)} {}  // NOLINT
  AxisNames(std::initializer_list<std::string> names) : names_(names) {}   // NOLINT
  AxisNames(std::vector<std::string> names) : names_(std::move(names)) {}  // NOLINT
  /// The names as they were given.
  const std::vector<std::string>& get() const { return names_; }

 private:
  std::vector<std::string> names_;
};

namespace internal {

struct BoundAxis {
  std::string name;
  std::int64_t size = 0;
  Array place;  // where along the axis the function runs: a scalar i32
};

/// Binds a name on this thread while it lives; an inner one of the same name hides it.
class AxisScope {
 public:
  explicit AxisScope(BoundAxis axis);
  ~AxisScope();
  AxisScope(const AxisScope&) = delete;
  AxisScope& operator=(const AxisScope&) = delete;
};

/// The innermost axis of that name. Throws Error in the name of `operation` where there is none.
const BoundAxis& bound_axis(const char* operation, const std::string& name);

}  // namespace internal
}  // namespace strata
