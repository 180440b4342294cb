// Adam and its parts.
#pragma once

#include "strata/optim/schedule.h"
#include "strata/optim/transform.h"

namespace strata::optim {

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, result (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) with t from 1.
/// Moments are f32 whatever the gradients are. Source: Kingma and Ba, Adam (2015); Optax's scale_by_adam with eps_root 0.
struct ScaleByAdam {
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  template <class P>
  struct State {
    Array count;
    P mu, nu;
    STRATA_FIELDS(count, mu, nu)
  };
  template <class P>
  State<P> init(const P& params) const {
    auto zero = [](const Array& p) { return zeros_like(p, DType::f32); };
    return {zeros({}, DType::i32), tree::map(zero, params), tree::map(zero, params)};
  }
  template <class P>
  std::pair<P, State<P>> update(P grads, const State<P>& state, const P&) const {
    Array count = state.count + 1, t = astype(count, DType::f32);
    P mu = tree::map([&](const Array& m, const Array& g) { return b1 * m + (1 - b1) * astype(g, DType::f32); }, state.mu, grads);
    P nu = tree::map(
        [&](const Array& v, const Array& g) {
          Array w = astype(g, DType::f32);
          return b2 * v + (1 - b2) * (w * w);
        },
        state.nu, grads);
    Array first = 1.0 / (1.0 - power(full({}, b1, DType::f32), t)), second = 1.0 / (1.0 - power(full({}, b2, DType::f32), t));
    P updates = tree::map([&](const Array& m, const Array& v) { return m * first / (sqrt(v * second) + eps); }, mu, nu);
    return {std::move(updates), {count, std::move(mu), std::move(nu)}};
  }
};

/// updates + weight_decay * params, for leaves of more than one axis where `matrices_only` (biases and norms are left alone).
struct AddDecayedWeights {
  double weight_decay = 0.0;
  bool matrices_only = false;
  template <class P>
  using State = NoState;
  template <class P>
  NoState init(const P&) const {
    return {};
  }
  template <class P>
  std::pair<P, NoState> update(P updates, const NoState&, const P& params) const {
    auto decay = [&](const Array& u, const Array& p) { return matrices_only && p.ndim() < 2 ? u : u + weight_decay * p; };
    return {tree::map(decay, updates, params), {}};
  }
};

/// updates * min(1, max_norm / global_norm); max_norm <= 0 leaves them as they are.
struct ClipByGlobalNorm {
  double max_norm = 1.0;
  template <class P>
  using State = NoState;
  template <class P>
  NoState init(const P&) const {
    return {};
  }
  template <class P>
  std::pair<P, NoState> update(P updates, const NoState&, const P&) const {
    if (max_norm <= 0) return {std::move(updates), {}};
    Array norm = global_norm(updates), scale = where(less(norm, max_norm), 1.0, max_norm / norm);
    return {tree::map([&](const Array& u) { return astype(astype(u, DType::f32) * scale, u.dtype()); }, updates), {}};
  }
};

/// -schedule(count) * updates.
struct ScaleByLearningRate {
  Schedule schedule;
  template <class P>
  struct State {
    Array count;
    STRATA_FIELDS(count)
  };
  template <class P>
  State<P> init(const P&) const {
    return {zeros({}, DType::i32)};
  }
  template <class P>
  std::pair<P, State<P>> update(P updates, const State<P>& state, const P&) const {
    Array rate = -schedule(state.count);
    return {tree::map([&](const Array& u) { return rate * u; }, updates), {state.count + 1}};
  }
};

struct AdamWOptions {
  double b1 = 0.9, b2 = 0.95, eps = 1e-8, weight_decay = 0.1, max_norm = 0.0;
  bool decay_matrices_only = false;
};
/// Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization (2019).
inline auto adamw(Schedule schedule, AdamWOptions o = {}) {
  return chain(ClipByGlobalNorm{o.max_norm}, ScaleByAdam{o.b1, o.b2, o.eps}, AddDecayedWeights{o.weight_decay, o.decay_matrices_only},
               ScaleByLearningRate{std::move(schedule)});
}
using AdamW = decltype(adamw(std::declval<Schedule>()));

}  // namespace strata::optim
