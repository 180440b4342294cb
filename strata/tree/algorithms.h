// More that works on trees, under the names of jax.tree: reductions over leaves, prefixes, trees of
// trees, one level of a tree.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "strata/tree/key_path.h"

namespace strata::tree {

/// f(...f(f(initial, leaf), leaf)..., leaf) in the order of leaves.
template <class F, TreeLike T, class R>
R reduce(F&& f, const T& t, R initial) {
  for_each(t, [&](const auto& leaf) { initial = f(std::move(initial), leaf); });
  return initial;
}
/// The same from the first leaf on. Throws Error for a tree without leaves.
template <class Leaf, class F, TreeLike T>
Leaf reduce(F&& f, const T& t) {
  std::optional<Leaf> out;
  for_each(t, [&](const auto& leaf) {
    if (out)
      out = f(std::move(*out), leaf);
    else
      out = leaf;
  });
  if (!out)
    throw Error("tree::reduce", "{} has no leaves; give an initial value", structure(t).text());
  return std::move(*out);
}

/// The same for an associative f: neighbours are joined in rounds, so that a sum of n leaves is log
/// n deep. Without leaves the identity, or Error where there is none.
template <class Leaf, class F, TreeLike T>
Leaf reduce_associative(F&& f, const T& t, const std::optional<Leaf>& identity = {}) {
  std::vector<Leaf> row = leaves<Leaf>(t);
  if (row.empty() && !identity)
    throw Error("tree::reduce_associative", "{} has no leaves; give an identity",
                structure(t).text());
  if (row.empty()) return *identity;
  while (row.size() > 1) {
    std::vector<Leaf> next;
    for (std::size_t i = 0; i + 1 < row.size(); i += 2) next.push_back(f(row[i], row[i + 1]));
    if (row.size() % 2 == 1) next.push_back(row.back());
    row = std::move(next);
  }
  return row[0];
}

/// Whether all leaves are true.
template <TreeLike T>
bool all(const T& t) {
  bool out = true;
  for_each(t, [&](const auto& leaf) { out = out && static_cast<bool>(leaf); });
  return out;
}

/// `full` with each leaf replaced by the leaf of `prefix` that stands at its path or above. Throws
/// Error where none does.
template <TreeLike Prefix, TreeLike T>
T broadcast(const Prefix& prefix, T full) {
  std::vector<std::pair<KeyPath, internal::AnyLeaf>> given;
  for_each_key_path(prefix, [&]<class L>(const KeyPath& path, const L& leaf) {
    given.emplace_back(path, internal::AnyLeaf{&leaf, &internal::type_tag<L>});
  });
  for_each_key_path(full, [&]<class L>(const KeyPath& path, L& leaf) {
    const auto above = [&](const auto& g) {
      return g.first.size() <= path.size() &&
             std::equal(g.first.begin(), g.first.end(), path.begin());
    };
    const auto it = std::find_if(given.begin(), given.end(), above);
    if (it == given.end())
      throw Error("tree::broadcast", "{} is no prefix of {}: nothing stands at or above {}",
                  structure(prefix).text(), structure(full).text(), keystr(path));
    leaf = it->second.template as<L>();
  });
  return full;
}

/// A tree of `outer`'s structure whose leaves are trees of `inner`'s, turned inside out: `like`, of
/// inner's structure with trees of outer's at its leaves, gets the leaves. Throws Error where the
/// leaves are not as many.
template <class Leaf, TreeLike Outer, TreeLike Inner, TreeLike T, TreeLike R>
R transpose(const Outer& outer, const Inner& inner, const T& t, R like) {
  const std::size_t n = structure(outer).leaves(), m = structure(inner).leaves();
  const std::vector<Leaf> given = leaves<Leaf>(t);
  if (given.size() != n * m)
    throw Error("tree::transpose", "{} times {} leaves are needed, got {}: {}", n, m, given.size(),
                structure(t).text());
  std::vector<Leaf> turned;
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t i = 0; i < n; ++i) turned.push_back(given[i * m + j]);
  return unflatten<Leaf>(std::move(like), turned);
}

/// Whether T has children: it is a tree, and neither a leaf nor static data.
template <class T>
inline constexpr bool is_tree_node = IsNode<T> && !is_leaf<T> && !is_static<T>;
/// Whether the elements are leaves.
template <class T>
constexpr bool all_leaves(const std::vector<T>& elements) {
  return elements.empty() || is_leaf<T>;
}

/// Calls `f(child)` for the children of a tree, which may be trees themselves; with keys
/// `f(KeyEntry, child)`.
template <TreeLike T, class F>
void flatten_one_level(const T& t, F&& f) {
  static_assert(is_tree_node<T>, "a leaf has no children");
  Node<T>::visit(t, [&](Step, const auto& child) { f(child); });
}
/// Calls `f(key, child)` for each child.
template <TreeLike T, class F>
void flatten_one_level_with_keys(const T& t, F&& f) {
  static_assert(is_tree_node<T>, "a leaf has no children");
  Node<T>::visit(t, [&](Step step, const auto& child) { f(key_of(step), child); });
}

}  // namespace strata::tree
