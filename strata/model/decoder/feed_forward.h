// The feed-forward branch of a decoder's layer, gated or not.
#pragma once

#include <optional>

#include "strata/model/decoder/linear.h"
#include "strata/model/decoder/routing.h"

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

/// One weight of all experts of a layer.
struct ExpertWeight {
  nn::Param kernel;               // (E, I, O)
  std::optional<nn::Param> bias;  // (E, O)
  STRATA_FIELDS(kernel, bias)
};

/// A feed-forward branch of experts, of which each token goes through a few.
struct Experts {
  Linear router;  // (D, E)
  /// f32 whatever the other weights are.
  std::optional<nn::Param> choice_bias;  // (E)
  /// ExpertOptions::beside_mlp: of what the router reads, and of what it gives each expert.
  std::optional<nn::Param> router_scale, expert_scale;  // (D), (E)
  ExpertWeight gate, up, down;                          // (E, D, F), (E, D, F), (E, F, D)
  /// What all tokens go through, and the factor's weight, (D, 1).
  std::optional<FeedForward> shared;
  std::optional<Linear> shared_gate;
  STRATA_FIELDS(router, choice_bias, router_scale, expert_scale, gate, up, down, shared,
                shared_gate)

  /// Where each token of x (..., D) goes: `route` of what the router makes of it.
  Routes routes(const Array& x, const ExpertOptions& options) const;
  /// Routes tokens by the residual stream instead of the layer's input
  /// (ExpertOptions::beside_mlp).
  Routes routes_of_residual(const Array& x, const ExpertOptions& options, double epsilon) const;
  /// The same as the weight of each expert, (..., E): zero where a token does not go.
  Array weights(const Array& x, const ExpertOptions& options) const;
  /// sum over the K routes of weight * down_e(f(gate_e x) * up_e x), or of the options' clipped
  /// product instead of f(gate) * up, and the shared one: x (...,
  /// D), result of its dtype. Tokens are put in the order of their experts, whose products are
  /// those of groups of rows (lax::ragged_dot), and back; what a token gets depends on it alone,
  /// and on where experts are full (ExpertOptions::capacity), for which nothing is computed then.
  /// The sum over routes is f32's. On a mesh whose axis of experts cuts tokens too (MaxText's
  /// expert) each device has its experts alone, and rows go there and back by all-to-all. Source:
  /// modeling_{mixtral,qwen2_moe,gpt_oss}.py of transformers; MaxText's sparse_matmul with expert
  /// parallelism, but for its buffers, which may overflow there.
  Array operator()(const Array& x, const ExpertOptions& options, Activation activation) const;
  /// The same of routes that are there.
  Array along(const Array& x, const Routes& routes, const ExpertOptions& options,
              Activation activation) const;
};

}  // namespace strata::model::decoder
