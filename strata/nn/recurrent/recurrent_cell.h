// What recurrent cells share: their functions, and where their first carry comes from.
//
// A cell is a struct with
//
//   using Carry = ...;                                   // an array or a tree of arrays
//   static constexpr std::int64_t num_feature_axes = 1;  // of inputs and outputs
//   std::pair<Carry, Array> operator()(const Carry& carry, const Array& x);
//   Carry initialize_carry(const Sizes& input_shape, RngStream& rngs, const Initializer& init)
//   const;
//
// and is what RNN takes.
#pragma once

#include <utility>

#include "strata/api/nn.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/named_function.h"

namespace strata::nn {

/// What RNN takes: see above.
template <class C>
concept RNNCellBase =
    tree::TreeLike<C> && tree::TreeLike<typename C::Carry> &&
    requires(C& cell, const C& fixed, const typename C::Carry& carry, const Array& x,
             const Sizes& input_shape, RngStream& rngs, const Initializer& init) {
      { C::num_feature_axes } -> std::convertible_to<std::int64_t>;
      { cell(carry, x) } -> std::same_as<std::pair<typename C::Carry, Array>>;
      { fixed.initialize_carry(input_shape, rngs, init) } -> std::same_as<typename C::Carry>;
    };

/// What is applied element by element: `{"relu", nn::relu}`.
using Activation = NamedFunction<const Array&>;
namespace activations {
/// 1 / (1 + exp(-x)).
Activation sigmoid();
/// The hyperbolic tangent.
Activation tanh();
}  // namespace activations

/// Options of all cells.
struct CellOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of gates, where the cell has these; and of what is remembered.
  Activation gate_fn = activations::sigmoid(), activation_fn = activations::tanh();
  /// Of the kernels of inputs, of the kernels of carries (none: the cell's orthogonal one), and of
  /// biases.
  Initializer kernel_init = initializers::lecun_normal();
  std::optional<Initializer> recurrent_kernel_init = std::nullopt;
  Initializer bias_init = initializers::zeros;
  /// Of weights and of first carries.
  DType param_dtype = DType::f32;
  /// How the cell's products are formed, and in which dtype (none: where inputs and weights meet).
  ProductOptions product = {};
  Metadata kernel_metadata = {}, recurrent_kernel_metadata = {}, bias_metadata = {};
};

namespace detail {
/// Options of the layers of inputs and of carries within a cell.
LinearOptions input_layer(const CellOptions& options, bool use_bias);
LinearOptions carry_layer(const CellOptions& options, bool use_bias, const Initializer& init);
/// Throws Error in the name of `cell` where x has not `in_features`, or the carry not the shape of
/// x with `hidden_features` in their place.
void check_step(const char* cell, const Array& x, std::int64_t in_features, const Array& carry,
                std::int64_t hidden_features);
/// One array of a first carry: the next key, and the shape of inputs with `hidden_features` in
/// place of theirs.
Array first_carry(const char* cell, const Sizes& input_shape, std::int64_t hidden_features,
                  RngStream& rngs, const Initializer& init, DType dtype);
}  // namespace detail

}  // namespace strata::nn
