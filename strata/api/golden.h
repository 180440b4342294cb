// Goldens: what JAX answers when a function of its array library is called (tools/goldens/api.py),
// and ours beside it. For tests.
//
//   STRATA_GOLDEN("numpy.sum", numpy::sum(c.x(0), {.axis = c.axes(), .keepdims =
//   c.flag("keepdims")}));
//
// One line for each function: how it is called with the arguments and options of a call. The test
// ApiGolden then calls it for all calls that goldens/ has of that name. What a test shows of other
// names it says itself: `shows_names("jit grad")`. The runner collects the names of the tests that
// passed; `strata-ops --api` prints them.
#pragma once

#include <functional>
#include <map>
#include <memory>
// Who looks into an option includes the whole of it, which takes a second to compile.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "strata/api/testing.h"

namespace strata::testing {

/// Arguments and options of one call.
class Call {
 public:
  Call(std::vector<Array> arguments, const nlohmann::json& options);

  std::size_t count() const { return arguments_.size(); }
  /// Argument i. Throws where there is none, as a function does that has no default for it.
  const Array& x(std::size_t i) const { return arguments_.at(i); }
  const std::vector<Array>& all() const { return arguments_; }
  std::vector<Array> from(std::size_t i) const {
    return {arguments_.begin() + static_cast<std::ptrdiff_t>(i), arguments_.end()};
  }

  bool has(const char* name) const;
  const nlohmann::json& option(const char* name) const;
  bool flag(const char* name, bool otherwise = false) const;
  std::int64_t integer(const char* name, std::int64_t otherwise = 0) const;
  std::optional<std::int64_t> maybe(const char* name) const;
  /// The same where None means all axes, and leaving it out another one.
  std::optional<std::int64_t> maybe(const char* name, std::int64_t left_out) const;
  double number(const char* name, double otherwise = 0) const;
  std::string text(const char* name, const std::string& otherwise = "") const;
  /// One integer or several.
  std::vector<std::int64_t> integers(const char* name,
                                     std::vector<std::int64_t> otherwise = {}) const;
  Axes axes(const char* name = "axis") const { return has(name) ? Axes(integers(name)) : Axes(); }
  std::optional<DType> dtype(const char* name = "dtype") const;
  /// An array, or a number (weakly typed).
  std::optional<Array> array(const char* name) const;
  std::optional<Operand> operand(const char* name) const;

 private:
  std::vector<Array> arguments_;
  std::shared_ptr<const nlohmann::json> options_;
};

using Callable = std::function<std::vector<Array>(const Call&)>;
/// Name -> how it is called.
std::map<std::string, Callable>& callables();

inline std::vector<Array> listed(const Array& x) { return {x}; }
inline std::vector<Array> listed(const std::vector<Array>& xs) { return xs; }
inline std::vector<Array> listed(const std::pair<Array, Array>& xs) {
  return {xs.first, xs.second};
}
template <class... T>
std::vector<Array> listed(const std::tuple<T...>& xs) {
  return std::apply([](const auto&... x) { return std::vector<Array>{x...}; }, xs);
}

struct Registered {
  Registered(const char* name, Callable f) { callables().emplace(name, std::move(f)); }
};
#define STRATA_GOLDEN_2(name, line, ...)                 \
  const ::strata::testing::Registered registered_##line( \
      name, [](const ::strata::testing::Call& c) {       \
        (void)c;                                         \
        return ::strata::testing::listed(__VA_ARGS__);   \
      })
#define STRATA_GOLDEN_1(name, line, ...) STRATA_GOLDEN_2(name, line, __VA_ARGS__)
#define STRATA_GOLDEN(name, ...) STRATA_GOLDEN_1(name, __LINE__, __VA_ARGS__)

/// What goldens/ holds of each name: `cases`, each with arguments "a", options "o", results "r" or
/// "e" where JAX refuses.
const std::map<std::string, nlohmann::json>& goldens();
/// Names that have goldens and are called here, in order.
std::vector<std::string> golden_names();
/// A name as one of a test's parameters.
std::string test_name(std::string name);
/// The call as one would write it.
std::string written(const std::string& name, const nlohmann::json& call);

/// `dtype[sizes]w:base64` as a strong or weak array.
Array decoded(const std::string& text);
/// Elements as f64, complex ones as pairs.
std::vector<double> numbers_of(const Array& x);

}  // namespace strata::testing
