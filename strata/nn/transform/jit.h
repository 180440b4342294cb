// nn::jit: programs that take modules and change their state.
//
//   auto step = nn::jit([](Model& m, optim::Optimizer& opt, const Batch& b) {
//     auto [loss, grads] = nn::value_and_grad(loss_of)(m, b);
//     opt.update(m, grads);
//     return loss;
//   });
//   Array loss = step(model, optimizer, batch);      // model and optimizer are changed
//
// As strata::jit, but an argument that the caller holds as a non-const lvalue and the function
// takes by reference goes in and comes out: variables whose value the function replaced are results
// of the program, and are written back. Nothing else is: new members, and numbers that are part of
// the structure, stay as they were. Within another trace the function is simply called.
//
// Source: Flax NNX's jit in tree mode.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "strata/api/transform/jit.h"
#include "strata/base/recycle.h"
#include "strata/nn/transform/callee.h"

namespace strata::nn {

namespace detail {

/// A compiled form: the program, which leaves it changes, and how the result looks.
struct CompiledState {
  strata::internal::Bound bound;
  std::size_t results;
  std::vector<std::size_t> changed;
  std::vector<Sown> sown;
  std::shared_ptr<const void> like;
};

/// What all nn::jit functions share: their compiled forms, and a call on lists of leaves.
class JitCore {
 public:
  explicit JitCore(JitOptions options) : options_(std::move(options)) {}

  /// What a call depends on beyond its arrays' elements, and its leaves. Valid until this thread
  /// begins the next.
  struct Arguments {
    std::string key;
    std::vector<ArgumentLeaf> leaves;
    void begin(const void* types);
    void add(std::size_t argument, const std::function<void(tree::Visitor&)>& accept);
  };
  static Arguments& arguments();

  std::shared_ptr<const CompiledState> find(const std::string& key) const;
  std::shared_ptr<const CompiledState> compile(
      const Arguments& arguments, Callee& callee,
      const std::function<std::shared_ptr<const void>()>& like);
  /// Runs, writes what was changed back to the caller's leaves, and returns the results.
  void run(const CompiledState& compiled, std::span<const ArgumentLeaf> leaves,
           const std::function<void(Array)>& result) const;
  std::size_t cache_size() const;

 private:
  JitOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const CompiledState>> compiled_;
};

}  // namespace detail

/// A function compiled as a whole, with state; see above. Copies share their compiled forms.
template <class F>
class Jit {
 public:
  Jit(F f, JitOptions options)
      : f_(std::make_shared<F>(std::move(f))),
        core_(std::make_shared<detail::JitCore>(std::move(options))) {}

  template <class... Args>
  auto operator()(Args&&... args) const {
    using Callee = detail::TypedCallee<F, std::remove_reference_t<Args>...>;
    using R = typename Callee::R;
    std::tuple<detail::Held<std::remove_reference_t<Args>>...> held(args...);
    // Values that a capture begins with are no constants of a program.
    if (detail::Trace::current() || detail::Collector::has_init())
      return std::apply([&](auto&... each) { return (*f_)(each...); }, held);
    else
      return detail::given_back<R>(call<Callee, R>(held, args...));
  }

  /// How many compiled forms there are.
  std::size_t cache_size() const { return core_->cache_size(); }

 private:
  template <class Callee, class R, class Held, class... Args>
  R call(Held& held, Args&... args) const {
    static const char types = 0;
    auto& arguments = detail::JitCore::arguments();
    arguments.begin(&types);
    std::apply(
        [&](auto&... each) {
          std::size_t number = 0;
          (arguments.add(number++, [&](tree::Visitor& v) { tree::accept_const(each, v); }), ...);
        },
        held);
    std::shared_ptr<const detail::CompiledState> compiled = core_->find(arguments.key);
    if (!compiled) {
      Callee callee(*f_, args...);
      // Tracing may call other functions, whose arguments stand in the same place.
      detail::JitCore::Arguments kept = arguments;
      compiled =
          core_->compile(kept, callee, [&] { return std::make_shared<const R>(callee.like()); });
      arguments = std::move(kept);
    }
    R result = *static_cast<const R*>(compiled->like.get());
    std::vector<Array*, Recycled<Array*>> places;
    tree::for_each(result, [&](Array& leaf) { places.push_back(&leaf); });
    std::size_t next = 0;
    core_->run(*compiled, arguments.leaves, [&](Array leaf) { *places[next++] = std::move(leaf); });
    return result;
  }

  std::shared_ptr<F> f_;
  std::shared_ptr<detail::JitCore> core_;
};

/// f compiled as a whole. Options as strata::jit's; a donated argument's memory may become
/// results', and all of its variables are valid afterwards.
template <class F>
Jit<F> jit(F f, JitOptions options = {}) {
  return Jit<F>(std::move(f), std::move(options));
}

}  // namespace strata::nn
