// What is known of a module while it is called: its path.
//
//   struct Block {
//     nn::Linear up, down;
//     STRATA_FIELDS(up, down)
//     Array operator()(const Array& x) {
//       const nn::ModuleScope scope(*this, "Block");   // layers of this room open their own
//       return down(nn::relu(up(x)));
//     }
//   };
//
// A module is a plain struct of variables and modules; nothing is registered. A scope notes on this
// thread which module is being called; its path in the outermost module is found when somebody asks:
// an error, `sow` and `capture`, `tabulate`, a handler of products. Errors made within say
// "in layers/0/up (Linear)". A module without a scope has the path of the one that calls it.
#pragma once

#include <string>
#include <typeinfo>

#include "strata/nn/variable.h"

namespace strata::nn {

/// Notes that a module is being called, while it lives.
class ModuleScope {
 public:
  /// `name` is the module's type as messages have it; it must live as long as the scope.
  template <tree::TreeLike M>
  ModuleScope(const M& module, const char* name)
      : ModuleScope(&module, typeid(M), name, [](const void* object, tree::Visitor& visitor) {
          tree::accept_const(*static_cast<const M*>(object), visitor);
        }) {}
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

  /// The innermost scope of this thread; null outside of modules.
  static const ModuleScope* current();
  /// "layers/0/up" from the outermost module on; empty for that one.
  std::string path() const;
  const char* name() const { return name_; }
  /// Takes a visitor through the module.
  void accept(tree::Visitor& visitor) const { accept_(object_, visitor); }
  const ModuleScope* outer() const { return outer_; }

 private:
  using Accept = void (*)(const void*, tree::Visitor&);
  ModuleScope(const void* object, const std::type_info& type, const char* name, Accept accept);
  const void* object_;
  const std::type_info* type_;
  const char* name_;
  Accept accept_;
  const ModuleScope* outer_;
};

/// The path of the module that is being called, and its type: "layers/0/up (Linear)"; empty outside
/// of modules.
std::string module_context();

}  // namespace strata::nn
