// An affine layer over several axes.
//
//   nn::LinearGeneral heads({256}, {8, 32}, rngs);            // (..., 256) -> (..., 8, 32)
//   nn::LinearGeneral out({8, 32}, {256}, rngs, {.axis = {-2, -1}});
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/linear/linear.h"

namespace strata::nn {

struct LinearGeneralOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The axes of x that are contracted, one for each number of input features, ascending.
  Sizes axis = -1;
  /// Sizes of leading axes along which x and the weights go together: a layer for each place.
  Sizes batch_sizes = {};
  bool use_bias = true;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros;
  DType param_dtype = DType::f32;
  ProductOptions product = {};
  Metadata kernel_metadata = {}, bias_metadata = {};
};

/// x kernel + bias, summed over `axis` of x. Result: batch axes, the other axes of x in order,
/// output features. First values are made in the shape (batch times inputs, outputs) and then given
/// their own. Source: Flax NNX's LinearGeneral, whose `batch_axis` {0: n, 1: m} is batch_sizes
/// here.
struct LinearGeneral {
  Param kernel;               // (batch..., in..., out...)
  std::optional<Param> bias;  // (batch..., out...)
  std::vector<std::int64_t> axis = {-1};
  std::int64_t batch_axes = 0;
  ProductOptions product;
  STRATA_FIELDS(kernel, bias, axis, batch_axes, product)

  LinearGeneral() = default;
  /// Takes a key of the stream "params" for the kernel, and one for the bias where there is one.
  /// Throws Error where there are not as many axes as input features.
  LinearGeneral(const Sizes& in_features, const Sizes& out_features, Rngs& rngs,
                const LinearGeneralOptions& options = {});
  /// Throws Error where the sizes of x along `axis` and the batch axes are not the kernel's.
  Array operator()(const Array& x) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::LinearGeneral)
