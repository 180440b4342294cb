// Every struct and every array of a module, with its path.
//
//   for (const nn::NodeAt& at : nn::iter_graph(model)) std::cout << at.name() << "\n";
//   Model frozen = nn::recursive_map([](const nn::NodeAt& at) {
//     if (auto* drop = at.as<nn::Dropout>()) drop->rate = 0;
//     if (at.leaf) *at.leaf = lax::stop_gradient(*at.leaf);
//   }, model);
//
// Source: flax/nnx/graphlib.py (0.12.8) in tree mode. Deviations: static data, lists and maps are
// no nodes; a function changes a node in place instead of returning another one.
#pragma once

#include <functional>
#include <typeinfo>

#include "strata/nn/variable.h"

namespace strata::nn {

/// A struct or an array within a module, and where it stands.
struct NodeAt {
  tree::KeyPath path;
  /// The array; null for a struct.
  Array* leaf = nullptr;
  /// Its kind; null for a struct.
  const tree::Kind* kind = nullptr;
  /// The struct and its type; null for an array.
  void* object = nullptr;
  const std::type_info* type = nullptr;

  /// "blocks/0/norm/scale"; empty for the outermost.
  std::string name() const;
  /// The struct, where it is of this very type; else null.
  template <class T>
  T* as() const {
    return type && *type == typeid(T) ? static_cast<T*>(object) : nullptr;
  }
};

namespace detail {
std::vector<NodeAt> nodes_in(const std::function<void(tree::Visitor&)>& accept);
}  // namespace detail

/// All structs and arrays in upstream's order: by path, each behind those that it holds.
template <tree::TreeLike M>
std::vector<NodeAt> iter_graph(M& module) {
  return detail::nodes_in([&](tree::Visitor& v) { tree::accept(module, v); });
}
/// A copy of the module in which f(NodeAt) has changed what it wanted to, inner nodes first. f must
/// not change how many elements a list or map has.
template <class F, tree::TreeLike M>
M recursive_map(F&& f, M module) {
  for (const NodeAt& at : iter_graph(module)) f(at);
  return module;
}

}  // namespace strata::nn
