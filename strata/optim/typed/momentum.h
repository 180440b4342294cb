// Momentum.
#pragma once

#include "strata/optim/typed/transform.h"

namespace strata::optim::typed {

/// t = g + decay t; result t, or g + decay t with `nesterov`. The trace has the dtypes of the
/// parameters. Source: Polyak (1964); Nesterov (1983) in the form of Sutskever et al. (2013).
/// Optax's trace.
struct Trace {
  double decay = 0.9;
  bool nesterov = false;
  /// What the transformation remembers for parameters P.
  template <class P>
  struct State {
    P trace;
    STRATA_FIELDS(trace)
  };
  /// The state before the first update, for these parameters.
  template <class P>
  State<P> init(const P& params) const {
    return {tree::map([](const Array& p) { return zeros_like(p); }, params)};
  }
  /// The updates that become of these, and the next state.
  template <class P>
  std::pair<P, State<P>> update(P grads, const State<P>& state, const P&) const {
    auto step = [&](const Array& g, const Array& t) { return g + decay * t; };
    P trace =
        tree::map([&](const Array& t, const Array& g) { return astype(step(g, t), t.dtype()); },
                  state.trace, grads);
    P updates = nesterov ? tree::map(step, grads, trace) : trace;
    return {std::move(updates), {std::move(trace)}};
  }
};
/// Momentum: the sum of updates, of which each is weighted by `decay` a step later; Nesterov's
/// where asked.
inline Trace trace(double decay, bool nesterov = false) { return {decay, nesterov}; }

}  // namespace strata::optim::typed
