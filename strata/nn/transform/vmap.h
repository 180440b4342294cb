// The same function of modules on many inputs at once.
//
//   nn::vmap([](Model& m, const Array& x) { return m(x); }, {.in_axes = {none, 0}})(model, xs)
//   Array y = nn::vmap(f)(stacked, xs);          // layers with a leading axis
//   // An ensemble of dropout masks: one set of weights, a stream for each.
//   nn::vmap(f, {.in_axes = {nn::prefix({{nn::of<nn::RngState>(), 0}}), none}})(model, x)
//
// A change of an argument's state comes back along the axis on which the argument was mapped. State
// of an argument that is not mapped (none) may change only to what does not depend on the axis.
// Source: Flax NNX's vmap in tree mode.
#pragma once

#include "strata/api/transform/vmap.h"
#include "strata/nn/transform/callee.h"

namespace strata::nn {

/// The axis of each leaf of an argument by filters, of which the first that takes a leaf holds;
/// none for the leaves that no filter takes. Source: Flax NNX's prefix.
class Prefix {
 public:
  /// Which leaves, and their axis; none: not mapped.
  using Rule = std::pair<Filter, std::optional<std::int64_t>>;
  explicit Prefix(std::vector<Rule> rules) : rules_(std::move(rules)) {}
  /// The axis of a leaf; none where no filter takes it.
  std::optional<std::int64_t> axis_of(const tree::Entry& entry, const Array& value) const;

 private:
  std::vector<Rule> rules_;
};
/// Throws Error where a filter that takes everything is not the last.
Prefix prefix(std::vector<Prefix::Rule> rules);

/// How an argument is mapped: over an axis of all its leaves, over none, or leaf by leaf.
class MappedAxis {
 public:
  MappedAxis(std::integral auto axis)
      : axis_(std::optional<std::int64_t>(axis)) {}                     // NOLINT: by intent
  MappedAxis(std::nullopt_t) : axis_(std::optional<std::int64_t>()) {}  // NOLINT
  MappedAxis(std::optional<std::int64_t> axis) : axis_(axis) {}         // NOLINT
  MappedAxis(Prefix prefix) : axis_(std::move(prefix)) {}               // NOLINT
  /// The axis of a leaf; none where it is not mapped.
  std::optional<std::int64_t> axis_of(const tree::Entry& entry, const Array& value) const;

 private:
  std::variant<std::optional<std::int64_t>, Prefix> axis_;
};

/// Options of `vmap`: those of strata::vmap, and axes leaf by leaf.
struct VmapOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The axis that is mapped over: `1` of all arguments, or one entry per argument in braces;
  /// `none`: not mapped. Default: 0 for all.
  OneOrMore<MappedAxis> in_axes = {};
  /// Where the new axis stands in each leaf of the result, one entry for all or one per leaf.
  /// Default: 0.
  OneOrMore<std::int64_t> out_axes = {};
  /// What collective functions within f call the axis.
  std::string axis_name = "";
  /// The number of inputs, when no argument is mapped.
  std::optional<std::int64_t> axis_size = std::nullopt;
};

namespace detail {
std::vector<Array> vmap(Callee& callee, const VmapOptions& options);
}

/// A function that maps f over an axis of its arguments. Throws Error
/// with the path where state that is not mapped would differ from place to place.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return [f = std::move(f), options = std::move(options)]<class... Args>(Args&&... args) mutable {
    detail::TypedCallee<F, std::remove_reference_t<Args>...> callee(f, args...);
    const std::vector<Array> results = detail::vmap(callee, options);
    return detail::given_back(callee.result(results));
  };
}

}  // namespace strata::nn
