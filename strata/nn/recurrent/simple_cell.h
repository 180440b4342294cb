// The simple recurrent cell.
//
//   nn::SimpleCell cell(3, 4, rngs, {.residual = true});
//   auto [next, y] = cell(h, x);      // x (2, 3), h and y (2, 4)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/recurrent/recurrent_cell.h"

namespace strata::nn {

struct SimpleCellOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of all cells; there are no gates. Where `cell.product.dtype` is none it is f32.
  CellOptions cell = {};
  /// Adds the carry before the activation.
  bool residual = false;
};

/// h' = activation(x W + b + h U), with `residual` of that + h. x (..., in_features), h and result
/// (..., hidden_features), in f32 unless a dtype is given. Throws Error for other numbers of
/// features. Source: Elman (1990); Flax NNX's SimpleCell. Deviations as LSTMCell's.
struct SimpleCell {
  Linear dense_i;  // of the input
  Linear dense_h;  // of h, without bias
  Activation activation_fn = activations::tanh();
  bool residual = false;
  std::int64_t in_features = 0, hidden_features = 0;
  DType param_dtype = DType::f32;
  STRATA_FIELDS(dense_i, dense_h, activation_fn, residual, in_features, hidden_features,
                param_dtype)

  /// What goes from step to step: h (..., hidden_features).
  using Carry = Array;
  static constexpr std::int64_t num_feature_axes = 1;

  SimpleCell() = default;
  /// Takes three keys of the stream "params": the kernel of dense_h, which is an orthogonal matrix,
  /// then kernel and bias of dense_i.
  SimpleCell(std::int64_t in_features, std::int64_t hidden_features, Rngs& rngs,
             const SimpleCellOptions& options = {});
  std::pair<Carry, Array> operator()(const Carry& h, const Array& x) const;
  /// h by an initializer, from a key; `input_shape` is x's.
  Carry initialize_carry(const Sizes& input_shape, RngStream& rngs,
                         const Initializer& init = initializers::zeros) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::SimpleCell)
