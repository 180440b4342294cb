// The same function on many inputs at once.
//
//   vmap(f)(xs, ys)                                   // f(xs[i], ys[i]) stacked
//   vmap(f, {.in_axes = {0, none}})(xs, y)            // y is the same for all
//   vmap(f, {.in_axes = 1, .out_axes = -1})(xs)        // the same axis of all arguments, of all
//   results
//   vmap(f, {.axis_name = "i"})(xs)                   // within f, lax::psum(x, "i") adds x of all
//   inputs (lax/parallel.h)
#pragma once

#include "strata/api/trace/function.h"
#include "strata/api/transform/axes.h"

namespace strata {

/// Options of `vmap`.
struct VmapOptions {
  internal::Named named = internal::Named();
  /// The axis that is mapped over: `1` of all arguments, or one entry per argument (of all leaves
  /// of a tree) in braces; `none`: not mapped. Default: 0 for all.
  OneOrMore<std::optional<std::int64_t>> in_axes = {};
  /// Where the new axis stands in each leaf of the result, one entry for all or one per leaf.
  /// Default: 0.
  OneOrMore<std::int64_t> out_axes = {};
  /// What collective functions within f call the axis. (Upstream's spmd_axis_name, an axis of a
  /// mesh of devices, comes with meshes.)
  std::string axis_name = "";
  /// The number of inputs, when no argument is mapped.
  std::optional<std::int64_t> axis_size = std::nullopt;
};

namespace internal {
/// Types of single inputs, and their number.
struct Mapped {
  std::vector<Type> types;
  std::vector<std::optional<int>> axes;  // of each leaf
  std::int64_t size = 0;
};
Mapped split_types(std::span<const Array> leaves,
                   const std::vector<std::optional<std::int64_t>>& axes,
                   const VmapOptions& options);
/// Of a program whose first argument is the place along the axis, and whose next are the leaves.
std::vector<Array> vmap(const Program& program, std::span<const Array> leaves, const Mapped& mapped,
                        const VmapOptions& options);

/// Traces f on single inputs behind the place along the axis, which its name stands for meanwhile.
template <class F, class... Args>
auto trace_mapped(F& f, const std::tuple<Args...>& arguments, const Mapped& mapped,
                  const std::string& axis_name) {
  auto within = [&](const Array& place, auto&... each) {
    std::optional<AxisScope> scope;
    if (!axis_name.empty()) scope.emplace(BoundAxis{axis_name, mapped.size, place});
    return as_arrays(f(each...));
  };
  std::vector<Type> types = {Type::scalar(DType::i32)};
  types.insert(types.end(), mapped.types.begin(), mapped.types.end());
  return trace_function(
      within,
      std::tuple_cat(std::tuple(Array::scalar(std::int64_t{0}, DType::i32, false)), arguments),
      Trace::Kind::nested, types);
}

/// The axis for each leaf from the axis for each argument.
template <class... Args>
std::vector<std::optional<std::int64_t>> leaf_axes(const std::tuple<Args...>& arguments,
                                                   const VmapOptions& options) {
  const auto& axes = options.in_axes;
  if (!axes.empty() && !axes.is_one() && axes.size() != sizeof...(Args))
    fail("vmap", "in_axes has {} entries for {} arguments", axes.size(), sizeof...(Args));
  std::vector<std::optional<std::int64_t>> out;
  std::size_t number = 0;
  auto one = [&](const auto& argument) {
    const std::optional<std::int64_t> axis =
        axes.empty() ? std::optional<std::int64_t>(0) : axes[axes.is_one() ? 0 : number];
    tree::for_each(argument, [&](const Array&) { out.push_back(axis); });
    ++number;
  };
  std::apply([&](const auto&... each) { (one(each), ...); }, arguments);
  return out;
}

template <class F>
class [[nodiscard]] Vmap {
 public:
  Vmap(F f, VmapOptions options, const Where& where)
      : f_(std::move(f)), options_(std::move(options)), where_(where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    if constexpr (accepts<const F, Args...>()) {
      Site site(where_);
      using Tuple = ArgumentTuple<const F, Args...>;
      const Tuple arguments(std::forward<Args>(args)...);
      const std::vector<Array> leaves = tree::leaves<Array>(arguments);
      const Mapped mapped = split_types(leaves, leaf_axes(arguments, options_), options_);
      auto traced = trace_mapped(f_, arguments, mapped, options_.axis_name);
      return traced.unflatten(internal::vmap(traced.program, leaves, mapped, options_));
    }
  }

 private:
  F f_;
  VmapOptions options_;
  Where where_;
};
}  // namespace internal

/// A function that maps f over an axis of its arguments.
template <class F>
auto vmap(F f, VmapOptions options = {}, Where where = Where::current()) {
  return internal::Vmap<F>(std::move(f), std::move(options), where);
}

}  // namespace strata
