// Gated recurrent units.
//
//   nn::GRUCell cell(3, 4, rngs);
//   auto [next, y] = cell(h, x);      // x (2, 3), h and y (2, 4)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/recurrent/recurrent_cell.h"

namespace strata::nn {

/// r = gate(xr + hr), z = gate(xz + hz), n = activation(xn + r hn), h' = (1 - z) n + z h, where
/// (xr, xz, xn) = x W + b and (hr, hz, hn) = h U. x (..., in_features), h and result (...,
/// hidden_features). Throws Error for other numbers of features. Source: Cho et al. (2014); Flax
/// NNX's GRUCell. Deviations as LSTMCell's.
struct GRUCell {
  Linear dense_i;  // of the input, (in, 3 hidden)
  Linear dense_h;  // of h, (hidden, 3 hidden), without bias
  Activation gate_fn = activations::sigmoid(), activation_fn = activations::tanh();
  std::int64_t in_features = 0, hidden_features = 0;
  DType param_dtype = DType::f32;
  STRATA_FIELDS(dense_i, dense_h, gate_fn, activation_fn, in_features, hidden_features, param_dtype)

  /// What goes from step to step: h (..., hidden_features).
  using Carry = Array;
  static constexpr std::int64_t num_feature_axes = 1;

  GRUCell() = default;
  /// Takes three keys of the stream "params": kernel and bias of dense_i, the kernel of dense_h,
  /// which is one orthogonal matrix.
  GRUCell(std::int64_t in_features, std::int64_t hidden_features, Rngs& rngs,
          const CellOptions& options = {});
  std::pair<Carry, Array> operator()(const Carry& h, const Array& x) const;
  /// h by an initializer, from a key; `input_shape` is x's.
  Carry initialize_carry(const Sizes& input_shape, RngStream& rngs,
                         const Initializer& init = initializers::zeros) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::GRUCell)
