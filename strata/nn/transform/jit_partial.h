// nn::jit with its first arguments bound: a training step that holds model and optimizer.
//
//   auto step = nn::jit_partial(train_step, model, optimizer);
//   Array loss = step(x, y);           // model and optimizer are changed
//
// Source: Flax NNX's jit_partial. The bound arguments are held by reference and must live as long
// as the step.
#pragma once

#include "strata/nn/transform/jit.h"

namespace strata::nn {

/// What `jit_partial` gives: a compiled function with its first arguments bound.
template <class F, class... Bound>
class JitPartial {
 public:
  JitPartial(Jit<F> f, Bound&... bound) : f_(std::move(f)), bound_(bound...) {}
  /// f(bound..., args...); what f changes of its arguments is written back.
  template <class... Args>
  auto operator()(Args&&... args) const {
    return std::apply([&](Bound&... bound) { return f_(bound..., std::forward<Args>(args)...); },
                      bound_);
  }
  /// How many compiled forms there are.
  std::size_t cache_size() const { return f_.cache_size(); }

 private:
  Jit<F> f_;
  std::tuple<Bound&...> bound_;
};

/// f compiled as a whole, whose first arguments are these.
template <class F, class... Bound>
JitPartial<F, Bound...> jit_partial(F f, Bound&... bound) {
  return JitPartial<F, Bound...>(nn::jit(std::move(f)), bound...);
}

}  // namespace strata::nn
