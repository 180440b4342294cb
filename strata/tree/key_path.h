// Paths as lists of keys, under the names of jax.tree_util, where tree.h has them as text.
//
//   tree::leaves_with_path<Array>(params)      // {{.layers[0].w, Array}, ...}
//   tree::map_with_path([](const tree::KeyPath& path, Array x) { ... }, params)
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "strata/tree/tree.h"

namespace strata::tree {

/// A field of a struct, an element of a list, a key of a map.
struct GetAttrKey {
  std::string name;
  bool operator==(const GetAttrKey&) const = default;
};
/// The step to an element by its number.
struct SequenceKey {
  std::size_t idx;
  bool operator==(const SequenceKey&) const = default;
};
/// The step to the value of a key.
struct DictKey {
  std::string key;
  bool operator==(const DictKey&) const = default;
};
/// One step from a node to its child, as jax.tree_util has it.
using KeyEntry = std::variant<GetAttrKey, SequenceKey, DictKey>;
/// The steps from the root to a leaf.
using KeyPath = std::vector<KeyEntry>;

/// The step as one of the classes of keys.
KeyEntry key_of(const Step& step);

/// How `keystr` writes.
struct KeyText {
  /// The names alone, with `separator` between them: "layers/0/w".
  bool simple = false;
  std::string separator = "";
};
/// ".layers[0]['gate']".
std::string keystr(const KeyPath& path, const KeyText& options = {});

namespace internal {
template <class T, class F>
void for_each_key_path(T& t, KeyPath& path, F& f) {
  using U = std::remove_cvref_t<T>;
  if constexpr (is_leaf<U>)
    f(std::as_const(path), t);
  else if constexpr (!is_static<U>) {
    Node<U>::visit(t, [&](Step step, auto& child) {
      path.push_back(key_of(step));
      for_each_key_path(child, path, f);
      path.pop_back();
    });
  }
}
}  // namespace internal

/// Calls `f(KeyPath, leaf)` for each leaf in order; leaves of a mutable tree may be changed.
template <TreeLike T, class F>
void for_each_key_path(T& t, F&& f) {
  KeyPath path;
  internal::for_each_key_path(t, path, f);
}

/// The leaves in order, each with its path.
template <class Leaf, TreeLike T>
std::vector<std::pair<KeyPath, Leaf>> leaves_with_path(const T& t) {
  std::vector<std::pair<KeyPath, Leaf>> out;
  for_each_key_path(t,
                    [&](const KeyPath& path, const auto& leaf) { out.emplace_back(path, leaf); });
  return out;
}
/// The leaves with their paths, and the structure.
template <class Leaf, TreeLike T>
std::pair<std::vector<std::pair<KeyPath, Leaf>>, Structure> flatten_with_path(const T& t) {
  return {leaves_with_path<Leaf>(t), structure(t)};
}

/// `map` whose function gets the path of the leaf first.
template <class F, TreeLike T, TreeLike... Rest>
T map_with_path(F&& f, T t, const Rest&... rest) {
  std::vector<KeyPath> paths;
  for_each_key_path(t, [&](const KeyPath& path, const auto&) { paths.push_back(path); });
  std::size_t next = 0;
  return tree::map(
      [&](const auto&... leaves) { return f(std::as_const(paths[next++]), leaves...); },
      std::move(t), rest...);
}

}  // namespace strata::tree
