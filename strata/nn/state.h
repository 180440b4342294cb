// The state of a module by kind and path: Flax NNX's split, merge, update.
//
//   auto [params, rest] = nn::split(model, nn::of<nn::Param>(), nn::everything());
//   Model again = nn::merge(model, params, rest);
//   nn::update(model, params);                       // in place
//   tree::Tree kernels = nn::state(model, tree::path("**/kernel"));
//
// A state is a tree::Tree; the module itself is what upstream calls its definition.
#pragma once

#include "strata/nn/variable.h"

namespace strata::nn {

/// One tree for each filter, which takes what those before it left. Throws Error with paths and
/// kinds where leaves are left over, and where a filter that takes everything is not the last.
template <class M, std::convertible_to<tree::Filter>... Filters>
std::array<tree::Tree, sizeof...(Filters)> split(const M& module, const Filters&... filters) {
  return tree::of(module).split(std::array<tree::Filter, sizeof...(Filters)>{filters...});
}
/// The leaves that the filter takes; without one, all.
template <class M>
tree::Tree state(const M& module, const tree::Filter& filter = everything()) {
  return tree::of(module).filter(filter);
}
/// A copy of the module with these values. Throws Error where a leaf has none, and where a state
/// has a path that the module lacks; the later of two states holds.
template <class M, std::same_as<tree::Tree>... Trees>
M merge(M module, const Trees&... states) {
  return tree::as(std::move(module), tree::merge({states...}));
}
/// Writes the values of the states into the module. Throws Error for a path that the module lacks.
template <class M, std::same_as<tree::Tree>... Trees>
void update(M& module, const Trees&... states) {
  tree::assign(module, tree::merge({states...}));
}
/// Takes the leaves that the filter takes out of the module, which has no value there afterwards.
template <class M>
tree::Tree pop(M& module, const tree::Filter& filter) {
  const tree::Tree taken = state(module, filter);
  update(module, taken.map([](const Array&) { return Array(); }));
  return taken;
}
/// f(entry, value) for each leaf that the filter takes; its results are written back.
template <class M>
void map_state(M& module, const tree::Filter& filter,
               const std::function<Array(const tree::Entry&, const Array&)>& f) {
  update(module, state(module, filter).map(f));
}
/// Groups of paths that hold the same array: what is tied, or was copied from one another.
std::vector<std::vector<std::string>> find_duplicates(const tree::Tree& state);

}  // namespace strata::nn
