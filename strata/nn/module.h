// What is known of a module while it is called: its path.
//
//   struct Block {
//     nn::Linear up, down;
//     STRATA_FIELDS(up, down)
//     Array operator()(const Array& x) {
//       const nn::ModuleScope scope(*this, "Block");   // layers of this room open their own
//       return scope.returns(down(nn::relu(up(x))), x);
//     }
//   };
//
// A module is a plain struct of variables and modules; nothing is registered. A scope notes on this
// thread which module is being called; its path in the outermost module is found when somebody
// asks: an error, `sow` and `capture`, `tabulate`, a handler of products. Errors made within say
// "in layers/0/up (Linear)". A module without a scope has the path of the one that calls it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "strata/nn/variable.h"

namespace strata::nn {

/// Notes that a module is being called, while it lives.
class ModuleScope {
 public:
  /// `name` is the module's type as messages have it, `method` what of it is called; they must live
  /// as long as the scope.
  template <tree::TreeLike M>
  ModuleScope(const M& module, const char* name, const char* method = kCall)
      : ModuleScope(&module, typeid(M), name, method,
                    [](const void* object, tree::Visitor& visitor) {
                      tree::accept_const(*static_cast<const M*>(object), visitor);
                    }) {}
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

  /// How the method is called that a call operator is.
  static constexpr const char* kCall = "__call__";

  /// The innermost scope of this thread; null outside of modules.
  static const ModuleScope* current();
  /// "layers/0/up" from the outermost module on; empty for that one.
  std::string path() const;
  /// The type of the module as messages have it.
  const char* name() const { return name_; }
  /// What of the module is called: `kCall`, or the name of a method.
  const char* method() const { return method_; }
  /// Where the module stands; a transform calls copies, which stand elsewhere.
  const void* object() const { return object_; }
  /// The C++ type of the module.
  const std::type_info& type() const { return *type_; }
  /// The call's result, which is given back; shown, with the inputs, to those who look.
  template <class R, class... Inputs>
  R returns(R result, const Inputs&... inputs) const {
    if (watched()) {
      std::vector<Array> all;
      (append(all, inputs), ...);
      report(all, tree::leaves<Array>(result));
    }
    return result;
  }
  /// Takes a visitor through the module.
  void accept(tree::Visitor& visitor) const { accept_(object_, visitor); }
  /// The scope within which this one was opened; null for the outermost.
  const ModuleScope* outer() const { return outer_; }

 private:
  using Accept = void (*)(const void*, tree::Visitor&);
  ModuleScope(const void* object, const std::type_info& type, const char* name, const char* method,
              Accept accept);
  static bool watched();
  void report(std::span<const Array> inputs, std::span<const Array> outputs) const;
  template <class T>
  static void append(std::vector<Array>& all, const T& input) {
    for (Array& leaf : tree::leaves<Array>(input)) all.push_back(std::move(leaf));
  }
  const void* object_;
  const std::type_info* type_;
  const char* name_;
  const char* method_;
  Accept accept_;
  const ModuleScope* outer_;
};

/// Sees the calls of modules on this thread while it lives.
class CallObserver {
 public:
  CallObserver();
  virtual ~CallObserver();
  CallObserver(const CallObserver&) = delete;
  CallObserver& operator=(const CallObserver&) = delete;
  /// A call begins: its scope was opened. Does nothing unless overridden, as `ends`.
  virtual void begins(const ModuleScope& scope) { (void)scope; }
  /// A call ends, by an exception too: its scope still stands.
  virtual void ends(const ModuleScope& scope) { (void)scope; }
  /// Leaves of inputs and results, where the module gives its result by `returns`.
  virtual void returned(const ModuleScope& scope, std::span<const Array> inputs,
                        std::span<const Array> outputs) {
    (void)scope, (void)inputs, (void)outputs;
  }
  /// The observer of this thread that was made before this one; null for the first. All see calls,
  /// the last one first.
  CallObserver* outer() const { return outer_; }

 private:
  CallObserver* outer_;
};

namespace detail {

/// The structs of a tree in order, with their types.
using Nodes = std::vector<std::pair<const void*, const std::type_info*>>;
Nodes nodes_of(const std::function<void(tree::Visitor&)>& accept);

/// Says, while it lives, that structs are copies of others, so that they are called by the same
/// paths: transforms call copies.
class ModuleCopies {
 public:
  ModuleCopies(const Nodes& originals, const Nodes& copies);
  ~ModuleCopies();
  ModuleCopies(const ModuleCopies&) = delete;
  ModuleCopies& operator=(const ModuleCopies&) = delete;

 private:
  std::size_t count_ = 0;
};

}  // namespace detail

/// The path of the module that is being called, and its type: "layers/0/up (Linear)"; empty outside
/// of modules.
std::string module_context();

}  // namespace strata::nn
