// Programs compiled as a whole.
//
//   auto step = jit(train_step, {.donate_argnums = {0}});
//   std::tie(params, loss) = step(std::move(params), x, y);
//   step.lower(params, x, y).as_text()                      // StableHLO
//
// The first call with given shapes, dtypes and static data traces the function and compiles the graph; later calls run it.
// C++ scalars among the arguments are operands; arrays and scalars that the function captures are constants from its first
// call on. The arrays of donated arguments that were moved in may lend their memory to results. Inside another trace
// the function is simply called: it becomes part of the surrounding program.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "strata/api/function.h"

namespace strata {

struct JitOptions {
  internal::Named named = internal::Named();
  /// Arguments whose memory may be reused for results.
  std::vector<std::size_t> donate_argnums = {};
  /// The program's name in messages and profiles.
  std::string name = "main";
};

/// A traced program, before it is compiled.
class Lowered {
 public:
  Lowered(std::shared_ptr<const internal::Program> program, std::string name, std::vector<std::string> paths)
      : program_(std::move(program)), name_(std::move(name)), paths_(std::move(paths)) {}
  /// A StableHLO module with one function.
  std::string as_text() const;
  const ir::Block& block() const { return *program_->block; }

 private:
  std::shared_ptr<const internal::Program> program_;
  std::string name_;
  std::vector<std::string> paths_;
};

namespace internal {

/// What a call depends on beyond its arrays' elements: structure, types, weakness, x64.
std::string jit_key(const std::string& structure, std::span<const Array> leaves);
std::shared_ptr<runtime::Executable> compile(const Program& program, const std::string& name, std::vector<bool> donated);
/// Runs on the leaves, whose buffers are given away.
std::vector<Array> run(runtime::Executable& executable, std::vector<Array> leaves, const std::vector<bool>& weak);

/// One compiled form of a function.
template <class R>
struct Compiled {
  std::shared_ptr<runtime::Executable> executable;
  R like;
  std::vector<bool> weak;
};

}  // namespace internal

template <class F>
class Jit {
 public:
  Jit(F f, JitOptions options) : state_(std::make_shared<State>(std::move(f), std::move(options))) {}

  template <class... Args>
  auto operator()(Args&&... args) const {
    using Tuple = internal::ArgumentTuple<F, Args...>;
    using R = internal::Result<F, Tuple>;
    Tuple arguments(std::forward<Args>(args)...);
    if (internal::Trace::current()) return R(std::apply(state_->f, arguments));
    const std::shared_ptr<const internal::Compiled<R>> compiled = find<R>(arguments);
    const std::vector<Array> results = internal::run(*compiled->executable, tree::take_leaves<Array>(arguments), compiled->weak);
    return tree::unflatten<Array>(compiled->like, results);
  }

  /// Traces for arguments like these.
  template <class... Args>
  Lowered lower(Args&&... args) const {
    using Tuple = internal::ArgumentTuple<F, Args...>;
    const Tuple arguments(std::forward<Args>(args)...);
    auto traced = internal::trace_function(state_->f, arguments, internal::Trace::Kind::jit);
    return Lowered(std::make_shared<const internal::Program>(std::move(traced.program)), state_->options.name, internal::argument_paths(arguments));
  }

  /// How many compiled forms there are: one for each combination of types that was called.
  std::size_t cache_size() const {
    std::lock_guard lock(state_->mutex);
    return state_->compiled.size();
  }

 private:
  struct State {
    State(F f, JitOptions options) : f(std::move(f)), options(std::move(options)) {}
    F f;
    JitOptions options;
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const void>> compiled;
  };

  template <class R, class Tuple>
  std::shared_ptr<const internal::Compiled<R>> find(const Tuple& arguments) const {
    const std::string key = type_key<Tuple>() + internal::jit_key(tree::structure(arguments).text(), tree::leaves<Array>(arguments));
    {
      std::lock_guard lock(state_->mutex);
      if (auto it = state_->compiled.find(key); it != state_->compiled.end()) return std::static_pointer_cast<const internal::Compiled<R>>(it->second);
    }
    auto traced = internal::trace_function(state_->f, arguments, internal::Trace::Kind::jit);
    auto compiled = std::make_shared<internal::Compiled<R>>();
    compiled->executable = internal::compile(traced.program, state_->options.name, donated_leaves(arguments));
    compiled->weak = traced.program.weak;
    compiled->like = tree::map([](const Array&) { return Array(); }, std::move(traced.like));
    std::lock_guard lock(state_->mutex);
    return std::static_pointer_cast<const internal::Compiled<R>>(state_->compiled.emplace(key, std::move(compiled)).first->second);
  }

  /// Generic functions may be called with different types of equal structure.
  template <class Tuple>
  static std::string type_key() {
    static const char tag = 0;
    return fmt::format("{}|", static_cast<const void*>(&tag));
  }

  template <class... Args>
  std::vector<bool> donated_leaves(const std::tuple<Args...>& arguments) const {
    std::vector<bool> out;
    std::size_t number = 0;
    auto one = [&](const auto& argument) {
      const auto& donated = state_->options.donate_argnums;
      const bool give = std::find(donated.begin(), donated.end(), number++) != donated.end();
      tree::for_each(argument, [&](const Array&) { out.push_back(give); });
    };
    std::apply([&](const auto&... each) { (one(each), ...); }, arguments);
    return out;
  }

  std::shared_ptr<State> state_;
};

/// The function compiled; see above. Copies share their compiled forms.
template <class F>
Jit<F> jit(F f, JitOptions options = {}) {
  return Jit<F>(std::move(f), std::move(options));
}

/// The result of f for arguments like these without computing it: shapes and dtypes only.
template <class F, class... Args>
auto eval_shape(F f, const Args&... args) {
  using Tuple = internal::ArgumentTuple<F, Args...>;
  return internal::trace_function(f, Tuple(args...), internal::Trace::Kind::nested).like;
}

}  // namespace strata
