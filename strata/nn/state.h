// The state of a module by kind and path: Flax NNX's split, merge, update.
//
//   auto [params, rest] = nn::split(model, nn::of<nn::Param>(), nn::everything());
//   Model again = nn::merge(model, params, rest);
//   nn::update(model, params);                       // in place
//   tree::Tree kernels = nn::state(model, tree::path("**/kernel"));
//
// A state is a tree::Tree; the module itself is what upstream calls its definition.
#pragma once

#include <map>

#include "strata/api/transform/jit.h"
#include "strata/nn/variable.h"

namespace strata::nn {

namespace detail {
Array copy_of(const Array& x);
MetadataPtr joined_notes(const MetadataPtr& before, const Metadata& notes);
void check_types(const tree::Tree& wanted, const tree::Tree& given);
}  // namespace detail

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
/// A copy of the module with f(entry, value) in place of each value.
template <tree::TreeLike M>
M map(const std::function<Array(const tree::Entry&, const Array&)>& f, M module) {
  map_state(module, everything(), f);
  return module;
}
/// Groups of paths that hold the same array: what is tied, or was copied from one another.
std::vector<std::vector<std::string>> find_duplicates(const tree::Tree& state);

/// The leaves of a whose paths b has not.
tree::Tree diff(const tree::Tree& a, const tree::Tree& b);
/// The same paths and values as plain arrays: kinds and metadata are left out, as for export.
tree::Tree as_pure(const tree::Tree& state);
/// Values by path; kinds and notes are left out.
std::map<std::string, Array> to_pure_dict(const tree::Tree& state);
/// The same leaves with the values that are given, by path as text. Throws Error for a path that
/// the state lacks.
tree::Tree replace_by_pure_dict(tree::Tree state, const std::map<std::string, Array>& values);
/// Path elements that are written as whole numbers, "7", "007", " 8 " or "1_0", as numbers: what a
/// format that knows texts alone (JSON) made of them. Deviation: negative ones stay texts.
tree::Tree restore_int_paths(const tree::Tree& state);

/// A copy whose arrays have memory of their own. Arrays of a trace stay as they are.
template <tree::TreeLike M>
M clone(M module) {
  tree::for_each(module, [](Array& leaf) { leaf = detail::copy_of(leaf); });
  return module;
}
/// Gives variables notes: what is given (not empty) takes the place of what was noted, the rest
/// stays.
template <class M>
void set_metadata(M& module, const Metadata& notes, const tree::Filter& only = everything()) {
  update(module, state(module, only).with_metadata([&](const tree::Entry& entry) {
    return detail::joined_notes(entry.metadata, notes);
  }));
}
/// What `make()` returns without values, of which only types are known: nothing is computed. State
/// from a file is put into it by `restore`.
template <class F>
auto abstract(F make) {
  return strata::eval_shape(std::move(make));
}
/// A copy of a module, abstract or not, with the values of a state that has every leaf of it.
/// Throws Error where a leaf has no value, and, with the path, for another dtype or shape.
template <class M>
M restore(M module, const tree::Tree& state) {
  detail::check_types(tree::of(module), state);
  return tree::as(std::move(module), state);
}

}  // namespace strata::nn
