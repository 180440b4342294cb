// Functions as graphs, and names for parts of them.
//
//   make_graph(f)(x, y).as_text()          // what f records for arguments like these; upstream's
//   make_jaxpr named_scope scope("attention");        // operations recorded while it lives say so
//   auto [ct] = linear_transpose(f, x)(y)  // of a linear f
#pragma once

#include <string>

#include "strata/api/transform/jit.h"

namespace strata {

/// A function of the same arguments that gives f's graph for them; nothing is computed.
template <class F>
auto make_graph(F f) {
  return [f = std::move(f)]<class... Args>(const Args&... args) {
    using Tuple = internal::ArgumentTuple<const F, Args...>;
    const Tuple arguments(args...);
    auto traced = internal::trace_function(f, arguments, internal::Trace::Kind::jit);
    return Lowered(std::make_shared<const internal::Program>(std::move(traced.program)), "graph",
                   internal::argument_paths(arguments));
  };
}

/// While it lives, operations recorded on this thread have the name in front of their place:
/// "attention/model.cc:12". Scopes nest: "block/attention/model.cc:12". Results do not change.
class named_scope {
 public:
  explicit named_scope(const std::string& name);
  ~named_scope();
  named_scope(const named_scope&) = delete;
  named_scope& operator=(const named_scope&) = delete;
  /// The names in force, each with "/" behind it.
  static const std::string& current();

 private:
  std::size_t before_;
};

namespace internal {
std::vector<Array> linear_transpose(const Program& program, const std::vector<Type>& arguments,
                                    std::span<const Array> cotangents);
}  // namespace internal

/// For a function that is linear in its arguments, of which only the types count: the function from
/// cotangents of its result to a tuple of cotangents of its arguments. Throws Error, when that is
/// called, where f is not linear, or not of floats.
template <class F, class... Args>
auto linear_transpose(F f, const Args&... args) {
  using Tuple = internal::ArgumentTuple<F, Args...>;
  const Tuple arguments(args...);
  auto traced = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
  using R = decltype(traced.like);
  std::vector<Type> types;
  tree::for_each(arguments, [&](const Array& a) { types.push_back(a.type()); });
  auto program = std::make_shared<const internal::Program>(std::move(traced.program));
  return [program, types, arguments](const R& cotangents) {
    return tree::unflatten<Array>(
        arguments, internal::linear_transpose(*program, types, tree::leaves<Array>(cotangents)));
  };
}

}  // namespace strata
