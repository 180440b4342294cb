// The modules in a module.
//
//   for (const nn::ModuleAt& at : nn::iter_modules(model))
//     if (auto* drop = at.as<nn::Dropout>()) drop->deterministic = true;
//
// Modules are structs with STRATA_FIELDS that hold others or variables; a list or a map is none,
// and neither is a stream. Source: flax/nnx/graphlib.py.
#pragma once

#include <typeinfo>

#include "strata/nn/variable.h"

namespace strata::nn {

/// A module and where it stands.
struct ModuleAt {
  tree::KeyPath path;
  void* object;
  const std::type_info* type;
  /// "blocks/0/norm"; empty for the outermost.
  std::string name() const;
  /// The type's name without namespaces: "BatchNorm".
  std::string type_name() const;
  /// The module, where it is of this very type; else null.
  template <class T>
  T* as() const {
    return *type == typeid(T) ? static_cast<T*>(object) : nullptr;
  }
};
namespace detail {
std::vector<ModuleAt> modules_in(const std::function<void(tree::Visitor&)>& accept);
std::vector<ModuleAt> children_of(std::vector<ModuleAt> modules);
}  // namespace detail

/// All modules in upstream's order: by path, each behind those that it holds.
template <tree::TreeLike M>
std::vector<ModuleAt> iter_modules(M& module) {
  return detail::modules_in([&](tree::Visitor& v) { tree::accept(module, v); });
}
/// The modules that the module itself holds, those in lists and maps among them.
template <tree::TreeLike M>
std::vector<ModuleAt> iter_children(M& module) {
  return detail::children_of(iter_modules(module));
}

}  // namespace strata::nn
