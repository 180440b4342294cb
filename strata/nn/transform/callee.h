// How the transforms of this folder see a user's function: leaves in, leaves out.
//
// The user's arguments are typed trees, of which those that the caller holds as non-const lvalues
// may be changed by the function. A Callee is the only template that is made for them; what a
// transform does stands in one source, on lists of arrays.
#pragma once

#include <functional>
#include <optional>
#include <tuple>

#include "strata/api/trace/function.h"
#include "strata/nn/inspect/capture.h"

namespace strata::nn::detail {

using strata::internal::AsOperand;
using strata::internal::Program;
using strata::internal::Trace;

/// A leaf of the caller's arguments.
struct ArgumentLeaf {
  Array* value;
  std::size_t argument;
};

/// The user's function with its arguments.
class Callee {
 public:
  virtual ~Callee() = default;
  /// Calls the function on a fresh copy of the arguments with these leaves. Returns the leaves of
  /// the result; `after` gets the leaves of the arguments as the function left them.
  virtual std::vector<Array> call(std::span<const Array> leaves, std::vector<Array>& after) = 0;
  virtual std::size_t arguments() const = 0;
  /// Takes a visitor through one argument of the caller's.
  virtual void accept(std::size_t argument, tree::Visitor& visitor) const = 0;
};

/// The leaves of the caller's arguments, in order: where they stand, and their values.
std::vector<ArgumentLeaf> argument_leaves(const Callee& callee);
std::vector<Array> values_of(std::span<const ArgumentLeaf> leaves);
/// The tree of one argument: paths, kinds, values.
tree::Tree argument_tree(const Callee& callee, std::size_t argument);
/// "argument 0, layers/1/kernel" of each leaf.
std::vector<std::string> argument_paths(const Callee& callee);

/// A traced function: a graph from leaves to (results, values of the leaves that were changed, what
/// was sown).
struct Traced {
  Program program;
  std::size_t results = 0;
  std::vector<std::size_t> changed;
  std::vector<Sown> sown;
  std::size_t outputs() const { return results + changed.size() + sown.size(); }
};
/// Traces the callee on leaves of these types. Throws Error where the function changed how many
/// leaves an argument has. Given `always`, the leaves there are results whether changed or not.
Traced trace(Callee& callee, std::span<const Array> leaves, Trace::Kind kind,
             std::span<const Type> types = {}, const std::vector<std::size_t>* always = nullptr);
/// Writes values into the caller's leaves.
void write_back(std::span<const ArgumentLeaf> leaves, std::span<const std::size_t> which,
                std::span<const Array> values);
/// Both that and handing on what was sown, of a traced function's outputs.
void give_out(const Traced& traced, std::span<const ArgumentLeaf> leaves,
              std::span<const Array> outputs);
/// The leaves that differ as handles.
std::vector<std::size_t> changed_leaves(std::span<const Array> before,
                                        std::span<const Array> after);

/// The leaves that a visit passes, and what puts others in their places.
std::vector<Array> leaves_of(const std::function<void(tree::Visitor&)>& accept);
void set_leaves(const std::function<void(tree::Visitor&)>& accept, std::span<const Array> leaves);

/// What a function returns, where void stands for an empty tuple.
template <class F, class... Args>
using RawResult =
    std::invoke_result_t<F&, std::conditional_t<std::is_const_v<std::remove_reference_t<Args>>,
                                                const AsOperand<Args>&, AsOperand<Args>&>...>;
template <class R>
using NoVoid = std::conditional_t<std::is_void_v<R>, std::tuple<>, std::remove_cvref_t<R>>;

/// What is kept of an argument: C++ scalars as arrays, trees by reference.
template <class T>
using Held = std::conditional_t<Scalar<std::remove_cvref_t<T>>, Array, T&>;

template <class F, class... Args>
class TypedCallee : public Callee {
 public:
  using Tuple = std::tuple<AsOperand<Args>...>;
  using R = NoVoid<RawResult<F, Args...>>;
  static_assert(tree::TreeLike<R>,
                "the result of a transformed function is nothing, an array or a tree of arrays "
                "(STRATA_FIELDS, vector, tuple, ...)");

  TypedCallee(F& f, Args&... args) : f_(f), held_(args...) {}

  std::vector<Array> call(std::span<const Array> leaves, std::vector<Array>& after) override {
    Tuple arguments =
        std::apply([](const auto&... each) { return Tuple(each...); }, std::as_const(held_));
    set_leaves([&](tree::Visitor& v) { accept_all(arguments, v); }, leaves);
    std::optional<ModuleCopies> copies;  // paths matter where a module calls a transform
    if (ModuleScope::current())
      copies.emplace(nodes_of([&](tree::Visitor& v) { accept_all(held_, v); }),
                     nodes_of([&](tree::Visitor& v) { accept_all(arguments, v); }));
    result_ = apply(arguments, std::index_sequence_for<Args...>());
    after = leaves_of([&](tree::Visitor& v) { accept_all(arguments, v); });
    return tree::leaves<Array>(*result_);
  }
  std::size_t arguments() const override { return sizeof...(Args); }
  void accept(std::size_t argument, tree::Visitor& visitor) const override {
    std::size_t number = 0;
    std::apply(
        [&](const auto&... each) {
          ((number++ == argument ? tree::accept_const(each, visitor) : void()), ...);
        },
        held_);
  }

  /// The last call's result with these leaves in place of its own.
  R result(std::span<const Array> leaves) const { return tree::unflatten<Array>(*result_, leaves); }
  /// The last call's result without values.
  R like() const {
    return tree::map([](const Array&) { return Array(); }, *result_);
  }

 private:
  template <class All>
  static void accept_all(const All& all, tree::Visitor& visitor) {
    std::apply([&](const auto&... each) { (tree::accept_const(each, visitor), ...); }, all);
  }
  template <std::size_t... I>
  R apply(Tuple& arguments, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<RawResult<F, Args...>>) {
      f_(pass<I>(arguments)...);
      return {};
    } else {
      return f_(pass<I>(arguments)...);
    }
  }
  /// What the caller may not change, the function may not.
  template <std::size_t I>
  decltype(auto) pass(Tuple& arguments) {
    using Given = std::tuple_element_t<I, std::tuple<Args...>>;
    if constexpr (std::is_const_v<std::remove_reference_t<Given>>)
      return std::as_const(std::get<I>(arguments));
    else
      return (std::get<I>(arguments));
  }

  F& f_;
  std::tuple<Held<Args>...> held_;
  std::optional<R> result_;
};

/// What the caller of a transform gets: nothing where the function returns nothing.
template <class R>
auto given_back(R result) {
  if constexpr (!std::same_as<R, std::tuple<>>) return result;
}

}  // namespace strata::nn::detail
