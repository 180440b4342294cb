// The name of the axis that vmap and scan add, in the metadata of variables.
//
//   auto make = nn::transform_metadata([](nn::Rngs& r) { return Block(256, r); },
//                                      {.partition = "layers"});
//   Block blocks = nn::vmap(make)(streams);     // kernel: out_sharding (layers, embed, mlp)
//
//   auto step = nn::transform_metadata([](Block& b, const Array& x) { return b(x); },
//       {.in_axes = {0, nn::Carry}, .out_axes = {nn::Carry}, .partition = "layers"});
//   Array y = nn::scan(step, {.in_axes = {0, nn::Carry}, .out_axes = {nn::Carry}})(blocks, x);
//
// Stands within the transform, around the body: the body sees variables without the axis' name,
// what it returns gets it. Source: Flax NNX's transform_metadata.
#pragma once

#include "strata/nn/sharding/sharding.h"
#include "strata/nn/transform/scan.h"

namespace strata::nn {

struct TransformMetadataOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The transform's: one for each argument, or one for all; and of the result, or of both parts of
  /// a pair. Where there is no axis, or the argument is carried, metadata stay.
  std::vector<ScanAxis> in_axes = {0};
  std::vector<ScanAxis> out_axes = {0};
  /// The axis' name; empty counts as not sharded.
  std::string partition = {};
};

namespace detail {
/// The axis of argument i of `count`. Throws Error for another number of axes.
const ScanAxis& axis_of_argument(const TransformMetadataOptions& options, std::size_t i,
                                 std::size_t count);

template <tree::TreeLike T>
void rename_axis(T& value, const ScanAxis& axis, const std::string& name, bool adds) {
  if (axis.is_carry() || axis.is_none()) return;
  value = adds ? nn::add_axis(std::move(value), axis.axis(), name)
               : nn::remove_axis(std::move(value), axis.axis(), name);
}
/// What the wrapper holds of an argument: what is const is copied, as its metadata change.
template <class T>
using RenamedArgument = std::conditional_t<std::is_const_v<T>, std::remove_const_t<T>, T&>;
template <class T, class Held>
decltype(auto) as_given(Held& held) {
  if constexpr (std::is_const_v<T>)
    return std::as_const(held);
  else
    return (held);
}
template <class R>
void name_result(R& result, const TransformMetadataOptions& options) {
  if constexpr (is_pair<R>) {
    if (options.out_axes.size() == 2) {
      rename_axis(std::get<0>(result), options.out_axes[0], options.partition, true);
      rename_axis(std::get<1>(result), options.out_axes[1], options.partition, true);
      return;
    }
  }
  if (options.out_axes.size() != 1)
    strata::internal::fail("transform_metadata", "out_axes has {} entries for one result",
                           options.out_axes.size());
  rename_axis(result, options.out_axes[0], options.partition, true);
}
}  // namespace detail

/// f, to be given to vmap or scan. Throws Error where a variable that names its axes has another
/// name at the axis of its argument.
template <class F>
auto transform_metadata(F f, TransformMetadataOptions options) {
  return [f = std::move(f), options = std::move(options)]<class... Args>(Args&... args) mutable {
    std::tuple<detail::RenamedArgument<Args>...> held(args...);
    const auto rename_all = [&]<std::size_t... I>(bool adds, std::index_sequence<I...>) {
      (detail::rename_axis(std::get<I>(held), detail::axis_of_argument(options, I, sizeof...(Args)),
                           options.partition, adds),
       ...);
    };
    const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return f(detail::as_given<Args>(std::get<I>(held))...);
    };
    constexpr std::index_sequence_for<Args...> all;
    rename_all(false, all);
    if constexpr (std::is_void_v<decltype(call(all))>) {
      call(all);
      rename_all(true, all);
    } else {
      auto result = call(all);
      rename_all(true, all);
      detail::name_result(result, options);
      return result;
    }
  };
}

}  // namespace strata::nn
