// Adam's scaling.
#pragma once

#include "strata/optim/typed/transform.h"

namespace strata::optim::typed {

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, result (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t))
/// + eps) with t from 1. Moments are f32 whatever the gradients are. Source: Kingma and Ba, Adam
/// (2015); Optax's scale_by_adam with eps_root 0.
struct ScaleByAdam {
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  /// What the transformation remembers for parameters P.
  template <class P>
  struct State {
    Array count;
    P mu, nu;
    STRATA_FIELDS(count, mu, nu)
  };
  /// The state before the first update, for these parameters.
  template <class P>
  State<P> init(const P& params) const {
    auto zero = [](const Array& p) { return zeros_like(p, DType::f32); };
    return {zeros({}, DType::i32), tree::map(zero, params), tree::map(zero, params)};
  }
  /// The updates that become of these, and the next state.
  template <class P>
  std::pair<P, State<P>> update(P grads, const State<P>& state, const P&) const {
    Array count = state.count + 1, t = astype(count, DType::f32);
    P mu = tree::map(
        [&](const Array& m, const Array& g) { return b1 * m + (1 - b1) * astype(g, DType::f32); },
        state.mu, grads);
    P nu = tree::map(
        [&](const Array& v, const Array& g) {
          Array w = astype(g, DType::f32);
          return b2 * v + (1 - b2) * (w * w);
        },
        state.nu, grads);
    Array first = 1.0 / (1.0 - power(full({}, b1, DType::f32), t)),
          second = 1.0 / (1.0 - power(full({}, b2, DType::f32), t));
    P updates = tree::map(
        [&](const Array& m, const Array& v) { return m * first / (sqrt(v * second) + eps); }, mu,
        nu);
    return {std::move(updates), {count, std::move(mu), std::move(nu)}};
  }
};
/// Adam's scaling of gradients, without a learning rate.
inline ScaleByAdam scale_by_adam(double b1 = 0.9, double b2 = 0.999, double eps = 1e-8) {
  return {b1, b2, eps};
}

}  // namespace strata::optim::typed
