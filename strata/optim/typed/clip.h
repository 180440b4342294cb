// Bounds on updates.
#pragma once

#include "strata/optim/typed/transform.h"

namespace strata::optim::typed {

/// updates * min(1, max_norm / global_norm), computed in f32, in each leaf's dtype; max_norm <= 0
/// leaves them as they are. Source: Pascanu et al., On the difficulty of training recurrent neural
/// networks (2013). Optax multiplies after it divides, each leaf anew; here the quotient is one
/// number for all leaves.
struct ClipByGlobalNorm {
  double max_norm = 1.0;
  /// What the transformation remembers for parameters P.
  template <class P>
  using State = NoState;
  /// The state before the first update, for these parameters.
  template <class P>
  NoState init(const P&) const {
    return {};
  }
  /// The updates that become of these, and the next state.
  template <class P>
  std::pair<P, NoState> update(P updates, const NoState&, const P&) const {
    if (max_norm <= 0) return {std::move(updates), {}};
    Array norm = global_norm(updates), scale = where(less(norm, max_norm), 1.0, max_norm / norm);
    return {
        tree::map([&](const Array& u) { return astype(astype(u, DType::f32) * scale, u.dtype()); },
                  updates),
        {}};
  }
};
/// Updates scaled down together where their global norm is above max_norm; 0 lets all pass.
inline ClipByGlobalNorm clip_by_global_norm(double max_norm) { return {max_norm}; }

}  // namespace strata::optim::typed
