// Programs compiled as a whole.
//
//   auto step = jit(train_step, {.donate_argnums = {0}});
//   std::tie(params, loss) = step(std::move(params), x, y);
//   step.lower(params, x, y).as_text()                      // StableHLO
//   auto fast = step.compile(params, x, y);                 // for these types alone: a call does not look for its program
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
#include "strata/api/memory.h"
#include "strata/base/recycle.h"

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

/// Appends a leaf's type and weakness, and no other's bytes begin with those.
void append_type(std::string& key, const Array& leaf);
/// A program as it is called: what is known of its arguments and results.
struct Bound {
  Bound(std::shared_ptr<runtime::Executable> executable, std::string name, std::vector<bool> weak, bool donates, Maker maker);
  std::shared_ptr<runtime::Executable> executable;
  std::string name;
  std::vector<bool> weak;           // results
  std::vector<std::size_t> bytes;   // of results
  bool donates;                     // some argument's memory may become a result's
  Maker maker;                      // for messages
};
Bound compile(const Program& program, const std::string& name, std::vector<bool> donated);

/// One call. Allocates nothing once its thread has called before, but for results without a donor that are not kept (runtime/allocator.h).
class Call {
 public:
  explicit Call(const Bound& bound);
  /// The next argument, which must live until `run`. `check`: throws Error for one of another type than was compiled.
  void add(const Array& argument, bool check);
  /// The next argument, whose memory a result may take. All arguments are given, or none.
  void give(Array argument);
  void run();
  /// The next result.
  Array take();

 private:
  template <class T> using List = std::vector<T, Recycled<T>>;
  /// Memory for result r.
  runtime::Buffer result(std::size_t r);
  const Bound& bound_;
  List<void*> arguments_, addresses_;
  List<runtime::Buffer> results_, made_, given_;  // made: of arguments that have no memory of their own
  std::size_t next_ = 0;
};

/// One compiled form of a function.
template <class R>
struct Compiled {
  Bound bound;
  R like;
};

template <class R>
R run(const Compiled<R>& compiled, Call& call) {
  call.run();
  R result = compiled.like;
  tree::for_each(result, [&](Array& x) { x = call.take(); });
  return result;
}

/// Reads the arguments.
template <class R, class Tuple>
R call(const Compiled<R>& compiled, const Tuple& arguments, bool check) {
  Call call(compiled.bound);
  tree::for_each(arguments, [&](const Array& x) { call.add(x, check); });
  return run(compiled, call);
}

/// Takes the arguments.
template <class R, class Tuple>
R call_with(const Compiled<R>& compiled, Tuple& arguments) {
  Call call(compiled.bound);
  tree::for_each(arguments, [&](Array& x) { call.give(std::move(x)); });
  return run(compiled, call);
}

}  // namespace internal

/// A function compiled for arguments of certain types (`Jit::compile`). It reads its arguments only, whatever jit was told to donate.
/// Static data among them is that for which it was compiled.
template <class R, class... Args>
class CompiledFunction {
 public:
  explicit CompiledFunction(std::shared_ptr<const internal::Compiled<R>> compiled) : compiled_(std::move(compiled)) {}
  /// Throws Error for arguments of other types.
  R operator()(const Args&... args) const { return internal::call(*compiled_, std::tie(args...), true); }

 private:
  std::shared_ptr<const internal::Compiled<R>> compiled_;
};

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
    if (!compiled->bound.donates) return internal::call(*compiled, arguments, false);
    return internal::call_with(*compiled, arguments);
  }

  /// The compiled form for arguments like these, compiled now unless it is there.
  template <class... Args>
  auto compile(const Args&... args) const {
    return handle(internal::ArgumentTuple<F, Args...>(args...));
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

  template <class... Args>
  auto handle(const std::tuple<Args...>& arguments) const {
    using R = internal::Result<F, std::tuple<Args...>>;
    return CompiledFunction<R, Args...>(find<R>(arguments));
  }

  template <class R, class Tuple>
  std::shared_ptr<const internal::Compiled<R>> find(const Tuple& arguments) const {
    const std::string& looked_for = key(arguments);
    {
      std::lock_guard lock(state_->mutex);
      if (auto it = state_->compiled.find(looked_for); it != state_->compiled.end()) return std::static_pointer_cast<const internal::Compiled<R>>(it->second);
    }
    std::string kept = looked_for;  // tracing may call other functions, whose keys stand in the same place
    auto traced = internal::trace_function(state_->f, arguments, internal::Trace::Kind::jit);
    auto compiled = std::make_shared<internal::Compiled<R>>(internal::compile(traced.program, state_->options.name, donated_leaves(arguments)),
                                                            tree::map([](const Array&) { return Array(); }, std::move(traced.like)));
    std::lock_guard lock(state_->mutex);
    return std::static_pointer_cast<const internal::Compiled<R>>(state_->compiled.emplace(std::move(kept), std::move(compiled)).first->second);
  }

  /// What a call depends on beyond its arrays' elements: C++ types (those of generic functions may have equal structures), structure, types
  /// of arrays, weakness, x64. Valid until this thread asks for the next.
  template <class Tuple>
  static const std::string& key(const Tuple& arguments) {
    static const char tag = 0;
    thread_local std::string key;
    const void* type = &tag;
    key.assign(reinterpret_cast<const char*>(&type), sizeof type);
    key += x64_enabled() ? 'w' : 'n';
    std::size_t leaves = 0;
    tree::internal::append_structure(key, leaves, arguments);
    tree::for_each(arguments, [&](const Array& leaf) { internal::append_type(key, leaf); });
    return key;
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
