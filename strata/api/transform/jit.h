// Programs compiled as a whole.
//
//   auto step = jit(train_step, {.donate_argnums = 0});
//   std::tie(params, loss) = step(std::move(params), x, y);
//   step.lower(params, x, y).as_text()                      // StableHLO; compiled, what it costs
//   and its machine code: stages.h auto fast = step.compile(params, x, y);                 // for
//   these types alone: a call does not look for its program
//
// The first call with given shapes, dtypes and static data traces the function and compiles the
// graph; later calls run it. C++ scalars among the arguments are operands; arrays and scalars that
// the function captures are constants from its first call on. The arrays of donated arguments that
// were moved in may lend their memory to results. Inside another trace the function is simply
// called: it becomes part of the surrounding program.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>

#include "strata/api/trace/call.h"
#include "strata/api/trace/function.h"
#include "strata/api/transform/cache_misses.h"
#include "strata/api/transform/stages.h"

namespace strata {

/// Options of `jit`.
struct JitOptions {
  internal::Named named = internal::Named();
  /// Arguments whose memory may be reused for results: `0`, or several in braces.
  OneOrMore<std::size_t> donate_argnums = {};
  /// The program's name in messages and profiles.
  std::string name = "main";
};

namespace internal {

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

/// A function compiled for arguments of certain types (`Jit::compile`). It reads its arguments
/// only, whatever jit was told to donate. Static data among them is that for which it was compiled.
template <class R, class... Args>
class [[nodiscard]] CompiledFunction {
 public:
  explicit CompiledFunction(std::shared_ptr<const internal::Compiled<R>> compiled)
      : compiled_(std::move(compiled)) {}
  /// Throws Error for arguments of other types.
  [[nodiscard]] R operator()(const Args&... args) const {
    return internal::call(*compiled_, std::tie(args...), true);
  }

  /// What a call costs: operations and bytes (stages.h).
  CostAnalysis cost_analysis() const { return internal::cost_analysis(compiled_->bound); }
  /// The memory that a call takes: arguments, results, buffers between (stages.h).
  MemoryAnalysis memory_analysis() const { return internal::memory_analysis(compiled_->bound); }
  /// Its machine code as text: kernels, and the driver that runs them.
  std::string as_native() const { return internal::as_native(compiled_->bound); }

 private:
  std::shared_ptr<const internal::Compiled<R>> compiled_;
};

/// A traced function, before it is compiled (`Jit::lower`).
template <class R, class... Args>
class [[nodiscard]] LoweredFunction : public Lowered {
 public:
  LoweredFunction(Lowered lowered, std::function<CompiledFunction<R, Args...>()> compile)
      : Lowered(std::move(lowered)), compile_(std::move(compile)) {}
  /// The compiled form, made now unless the function has it.
  CompiledFunction<R, Args...> compile() const { return compile_(); }

 private:
  std::function<CompiledFunction<R, Args...>()> compile_;
};

/// What `jit` returns: call it like the function.
template <class F>
class [[nodiscard]] Jit {
 public:
  Jit(F f, JitOptions options, const std::source_location& where)
      : state_(std::make_shared<State>(std::move(f), std::move(options), where)) {}

  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    if constexpr (internal::accepts<F, Args...>()) {
      using Tuple = internal::ArgumentTuple<F, Args...>;
      using R = internal::Result<F, Tuple>;
      Tuple arguments(std::forward<Args>(args)...);
      if (internal::Trace::current()) return R(std::apply(state_->f, arguments));
      const std::shared_ptr<const internal::Compiled<R>> compiled = find<R>(arguments);
      if (!compiled->bound.donates) return internal::call(*compiled, arguments, false);
      return internal::call_with(*compiled, arguments);
    }
  }

  /// The compiled form for arguments like these, compiled now unless it is there.
  template <class... Args>
  auto compile(const Args&... args) const {
    if constexpr (internal::accepts<F, Args...>())
      return handle(internal::ArgumentTuple<F, Args...>(args...));
  }

  /// Traces for arguments like these.
  template <class... Args>
  auto lower(Args&&... args) const {
    if constexpr (internal::accepts<F, Args...>())
      return lowered(internal::ArgumentTuple<F, Args...>(std::forward<Args>(args)...));
  }

  /// How many compiled forms there are: one for each combination of types that was called.
  std::size_t cache_size() const {
    std::lock_guard lock(state_->mutex);
    return state_->compiled.size();
  }

 private:
  struct State {
    State(F function, JitOptions given, const std::source_location& at)
        : f(std::move(function)), options(std::move(given)), where(at) {}
    F f;
    JitOptions options;
    std::source_location where;
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const void>> compiled;
    std::vector<internal::Signature> signatures;  // of those
  };

  template <class... Args>
  auto handle(const std::tuple<Args...>& arguments) const {
    using R = internal::Result<F, std::tuple<Args...>>;
    return CompiledFunction<R, Args...>(find<R>(arguments));
  }

  template <class... Args>
  auto lowered(std::tuple<Args...> arguments) const {
    using R = internal::Result<F, std::tuple<Args...>>;
    internal::Site site(state_->where);
    internal::check_donated(state_->options.donate_argnums, sizeof...(Args));
    auto traced = internal::trace_function(state_->f, arguments, internal::Trace::Kind::jit);
    Lowered lowered(std::make_shared<const internal::Program>(std::move(traced.program)),
                    state_->options.name, internal::argument_paths(arguments));
    return LoweredFunction<R, Args...>(
        std::move(lowered),
        [jit = *this, arguments = std::move(arguments)] { return jit.handle(arguments); });
  }

  template <class R, class Tuple>
  std::shared_ptr<const internal::Compiled<R>> find(const Tuple& arguments) const {
    const std::string& looked_for = key(arguments);
    {
      std::lock_guard lock(state_->mutex);
      if (auto it = state_->compiled.find(looked_for); it != state_->compiled.end())
        return std::static_pointer_cast<const internal::Compiled<R>>(it->second);
    }
    std::string kept =
        looked_for;  // tracing may call other functions, whose keys stand in the same place
    note_miss(arguments);
    internal::Site site(state_->where);
    internal::check_donated(state_->options.donate_argnums, std::tuple_size_v<Tuple>);
    auto traced = internal::trace_function(state_->f, arguments, internal::Trace::Kind::jit);
    internal::CallDevice device;
    tree::for_each(arguments, [&](const Array& x) { device.add(x, state_->options.name); });
    auto compiled = std::make_shared<internal::Compiled<R>>(
        internal::compile(std::move(traced.program), state_->options.name,
                          donated_leaves(arguments), device),
        tree::map([](const Array&) { return Array(); }, std::move(traced.like)));
    std::lock_guard lock(state_->mutex);
    return std::static_pointer_cast<const internal::Compiled<R>>(
        state_->compiled.emplace(std::move(kept), std::move(compiled)).first->second);
  }

  template <class Tuple>
  void note_miss(const Tuple& arguments) const {
    internal::Signature now = internal::signature_of(arguments);
    std::lock_guard lock(state_->mutex);
    if (explain_cache_misses::enabled())
      internal::say_miss(fmt::format("{} [{}]", state_->options.name, describe(state_->where)), now,
                         state_->signatures);
    state_->signatures.push_back(std::move(now));
  }

  /// What a call depends on beyond its arrays' elements: C++ types (those of generic functions may
  /// have equal structures), structure, types of arrays, weakness, x64. Valid until this thread
  /// asks for the next.
  template <class Tuple>
  static const std::string& key(const Tuple& arguments) {
    static const char tag = 0;
    thread_local std::string key;
    const void* type = &tag;
    key.assign(reinterpret_cast<const char*>(&type), sizeof type);
    internal::append_settings(key);
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
Jit<F> jit(F f, JitOptions options = {},
           const std::source_location& where = std::source_location::current()) {
  return Jit<F>(std::move(f), std::move(options), where);
}

/// The result of f for arguments like these without computing it: shapes and dtypes only.
template <class F, class... Args>
[[nodiscard]] auto eval_shape(F f, const Args&... args) {
  if constexpr (internal::accepts<F, Args...>()) {
    using Tuple = internal::ArgumentTuple<F, Args...>;
    return internal::trace_function(f, Tuple(args...), internal::Trace::Kind::nested).like;
  }
}

}  // namespace strata
