// Weight decay and which weights it is for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "strata/optim/typed/transform.h"

namespace strata::optim::typed {

/// Whether the leaf at a path ("layers.mlp_norm") is meant. Empty: every leaf is.
using Mask = std::function<bool(const std::string& path, const Array& leaf)>;

/// Leaves of at least `axes` axes: matrices, but no biases and scales. Of weights that are stacked
/// by layers a scale has two axes: take paths there.
Mask mask_by_ndim(int axes = 2);
/// Leaves whose path matches none of the shell patterns: `mask_except_paths({"*norm*", "*bias"})`.
Mask mask_except_paths(std::vector<std::string> patterns);

/// updates + weight_decay * params on the leaves of the mask, the updates alone on the others.
/// Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization (2019).
struct AddDecayedWeights {
  double weight_decay = 0.0;
  Mask mask = {};
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
  std::pair<P, NoState> update(P updates, const NoState&, const P& params) const {
    std::vector<bool> meant;
    tree::for_each_path(params, [&](const std::string& path, const Array& p) {
      meant.push_back(!mask || mask(path, p));
    });
    std::size_t leaf = 0;
    auto decay = [&](const Array& u, const Array& p) {
      return meant[leaf++] ? astype(u + weight_decay * p, u.dtype()) : u;
    };
    return {tree::map(decay, updates, params), {}};
  }
};
/// Updates plus weight_decay times the weights that the mask names; all without one.
inline AddDecayedWeights add_decayed_weights(double weight_decay, Mask mask = {}) {
  return {weight_decay, std::move(mask)};
}

}  // namespace strata::optim::typed
