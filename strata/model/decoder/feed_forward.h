// The feed-forward branch of a decoder's layer, gated or not.
#pragma once

#include <optional>

#include "strata/model/decoder/linear.h"
#include "strata/model/decoder/options.h"

namespace strata::model::decoder {

/// The function by itself: gelu is x Phi(x), gelu_tanh its form by tanh.
Array activate(const Array& x, Activation activation);

struct FeedForward {
  std::optional<Linear> gate;  // (D, F)
  Linear up, down;             // (D, F), (F, D)
  STRATA_FIELDS(gate, up, down)

  /// down(f(gate x) * up x), or down(f(up x)) without a gate.
  Array operator()(const Array& x, Activation activation) const;
};

}  // namespace strata::model::decoder
