// Long short-term memory.
//
//   nn::LSTMCell cell(3, 4, rngs);
//   auto carry = cell.initialize_carry({2, 3}, rngs["carry"]);      // (2, 4) twice
//   auto [next, y] = cell(carry, x);                                // x (2, 3), y (2, 4)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/recurrent/recurrent_cell.h"

namespace strata::nn {

/// i = gate(x Wii + h Whi + bi), f and o alike, g = activation(x Wig + h Whg + bg); c' = f c + i g,
/// h' = o activation(c'). x (..., in_features); the carry is (c, h), each (..., hidden_features);
/// result (c', h') and h'. Throws Error for other numbers of features. Source: Hochreiter and
/// Schmidhuber (1997); Flax NNX's LSTMCell. Deviations: a stream of its own (`keep_rngs`) and
/// `carry_init` of the constructor, which upstream advises against, are left out.
struct LSTMCell {
  Linear ii, if_, ig, io;  // of the input, without bias
  Linear hi, hf, hg, ho;   // of h
  Activation gate_fn = activations::sigmoid(), activation_fn = activations::tanh();
  std::int64_t in_features = 0, hidden_features = 0;
  DType param_dtype = DType::f32;
  STRATA_FIELDS(ii, if_, ig, io, hi, hf, hg, ho, gate_fn, activation_fn, in_features,
                hidden_features, param_dtype)

  /// What goes from step to step: (c, h), each (..., hidden_features).
  using Carry = std::pair<Array, Array>;
  static constexpr std::int64_t num_feature_axes = 1;

  LSTMCell() = default;
  /// Takes twelve keys of the stream "params": the kernels of ii, if_, ig and io, then kernel and
  /// bias each of hi, hf, hg and ho. Kernels of h are orthogonal, made in f32 and rounded.
  LSTMCell(std::int64_t in_features, std::int64_t hidden_features, Rngs& rngs,
           const CellOptions& options = {});
  std::pair<Carry, Array> operator()(const Carry& carry, const Array& x) const;
  /// c and h by an initializer, from a key each; `input_shape` is x's.
  Carry initialize_carry(const Sizes& input_shape, RngStream& rngs,
                         const Initializer& init = initializers::zeros) const;
};

/// The same function of concatenated weights: kernels (in, 4 h) and (h, 4 h), gates in the order i,
/// f, g, o. Two products for a step. Source: Flax NNX's OptimizedLSTMCell. Deviations as
/// LSTMCell's.
struct OptimizedLSTMCell {
  Linear dense_i;  // of the input, without bias
  Linear dense_h;  // of h
  Activation gate_fn = activations::sigmoid(), activation_fn = activations::tanh();
  std::int64_t in_features = 0, hidden_features = 0;
  DType param_dtype = DType::f32;
  STRATA_FIELDS(dense_i, dense_h, gate_fn, activation_fn, in_features, hidden_features, param_dtype)

  /// What goes from step to step: (c, h), each (..., hidden_features).
  using Carry = std::pair<Array, Array>;
  static constexpr std::int64_t num_feature_axes = 1;

  OptimizedLSTMCell() = default;
  /// Takes three keys of the stream "params": the kernel of dense_i, kernel and bias of dense_h,
  /// whose kernel is one orthogonal matrix.
  OptimizedLSTMCell(std::int64_t in_features, std::int64_t hidden_features, Rngs& rngs,
                    const CellOptions& options = {});
  /// The weights of another cell, side by side.
  explicit OptimizedLSTMCell(const LSTMCell& cell);
  std::pair<Carry, Array> operator()(const Carry& carry, const Array& x) const;
  /// c and h by an initializer, from a key each; `input_shape` is x's.
  Carry initialize_carry(const Sizes& input_shape, RngStream& rngs,
                         const Initializer& init = initializers::zeros) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::LSTMCell)
STRATA_COMPILED_VISIT(strata::nn::OptimizedLSTMCell)
