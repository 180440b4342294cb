// The same function of modules on many inputs at once.
//
//   nn::vmap([](Model& m, const Array& x) { return m(x); }, {.in_axes = {none, 0}})(model, xs)
//   Array y = nn::vmap(f)(stacked, xs);          // layers with a leading axis
//
// A change of an argument's state comes back along the axis on which the argument was mapped. State
// of an argument that is not mapped (none) may change only to what does not depend on the axis.
// Source: Flax NNX's vmap in tree mode.
#pragma once

#include "strata/api/vmap.h"
#include "strata/nn/transform/callee.h"

namespace strata::nn {

namespace detail {
std::vector<Array> vmap(Callee& callee, const VmapOptions& options);
}

/// A function that maps f over an axis of its arguments; options as strata::vmap's. Throws Error
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
