// Trees under both of upstream's names: `strata::tree` (tree/tree.h, tree/algorithms.h,
// tree/key_path.h) is jax.tree, `strata::tree_util` jax.tree_util.
//
// The type of a tree says its structure, so that a handle of a structure (upstream's PyTreeDef) is
// an example here: `unflatten(like, leaves)`. Leaves of vectors are of a type that is named:
// `tree::leaves<Array>(params)`.
#pragma once

#include "strata/api/array.h"
#include "strata/tree/algorithms.h"

namespace strata {

/// The tree, once the values of all its arrays are there (Array::block_until_ready).
template <tree::TreeLike T>
const T& block_until_ready(const T& x) {
  for (const Array& leaf : tree::leaves<Array>(x)) leaf.block_until_ready();
  return x;
}

}  // namespace strata

namespace strata::tree_util {

using tree::all_leaves;
using tree::DictKey;
using tree::flatten_one_level;
using tree::flatten_one_level_with_keys;
using tree::GetAttrKey;
using tree::is_tree_node;
using tree::KeyEntry;
using tree::KeyPath;
using tree::keystr;
using tree::SequenceKey;

template <class... A>
auto tree_map(A&&... a) {
  return tree::map(std::forward<A>(a)...);
}
template <class... A>
auto tree_map_with_path(A&&... a) {
  return tree::map_with_path(std::forward<A>(a)...);
}
template <class Leaf = Array, class T>
auto tree_leaves(const T& t) {
  return tree::leaves<Leaf>(t);
}
template <class Leaf = Array, class T>
auto tree_leaves_with_path(const T& t) {
  return tree::leaves_with_path<Leaf>(t);
}
template <class Leaf = Array, class T>
auto tree_flatten(const T& t) {
  return tree::flatten<Leaf>(t);
}
template <class Leaf = Array, class T>
auto tree_flatten_with_path(const T& t) {
  return tree::flatten_with_path<Leaf>(t);
}
template <class Leaf = Array, class T>
T tree_unflatten(T like, const std::vector<Leaf>& leaves) {
  return tree::unflatten<Leaf>(std::move(like), leaves);
}
template <class T>
auto tree_structure(const T& t) {
  return tree::structure(t);
}
template <class T>
bool tree_all(const T& t) {
  return tree::all(t);
}
template <class P, class T>
T tree_broadcast(const P& prefix, T full) {
  return tree::broadcast(prefix, std::move(full));
}
template <class F, class T, class R>
R tree_reduce(F&& f, const T& t, R initial) {
  return tree::reduce(std::forward<F>(f), t, std::move(initial));
}
template <class Leaf = Array, class F, class T>
Leaf tree_reduce(F&& f, const T& t) {
  return tree::reduce<Leaf>(std::forward<F>(f), t);
}
template <class Leaf = Array, class F, class T>
Leaf tree_reduce_associative(F&& f, const T& t, const std::optional<Leaf>& identity = {}) {
  return tree::reduce_associative<Leaf>(std::forward<F>(f), t, identity);
}
template <class Leaf = Array, class O, class I, class T, class R>
R tree_transpose(const O& outer, const I& inner, const T& t, R like) {
  return tree::transpose<Leaf>(outer, inner, t, std::move(like));
}

}  // namespace strata::tree_util
