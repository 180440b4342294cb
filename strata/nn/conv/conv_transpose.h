// Transposed convolutions: from small images to large ones, channels last.
//
//   nn::ConvTranspose up(64, 3, {3, 3}, rngs, {.strides = 2});
//   Array y = up(x);            // (..., 16, 16, 64) -> (..., 32, 32, 3)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/conv/conv.h"

namespace strata::nn {

struct ConvTransposeOptions {
  strata::internal::Named named = strata::internal::Named();
  /// One number for each spatial axis, or one for all.
  Sizes strides = {};
  /// "SAME", "VALID", or "CIRCULAR", where what sticks out is added at the other end. Numbers are
  /// those of the convolution of the spread input.
  Padding padding = "SAME";
  Sizes kernel_dilation = {};
  bool use_bias = true;
  /// Of the kernel's shape; multiplies it before it is cast.
  std::optional<Array> mask = std::nullopt;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros;
  DType param_dtype = DType::f32;
  /// The kernel is (size..., O, I) and turned around: with a Conv's weights the derivative of that
  /// one.
  bool transpose_kernel = false;
  ProductOptions product = {};
  Metadata kernel_metadata = {}, bias_metadata = {};
};

/// A convolution of the input spread out by the strides: x (batch..., spatial..., I), result
/// (batch..., spatial..., O). Source: Flax NNX's ConvTranspose.
struct ConvTranspose {
  Param kernel;                  // (size..., I, O), or (size..., O, I)
  std::optional<Param> bias;     // (O)
  std::optional<Constant> mask;  // of the kernel's shape
  std::vector<std::int64_t> strides, kernel_dilation;
  Padding padding = "SAME";
  bool transpose_kernel = false;
  ProductOptions product;
  STRATA_FIELDS(kernel, bias, mask, strides, kernel_dilation, padding, transpose_kernel, product)

  ConvTranspose() = default;
  /// Takes a key of the stream "params" for the kernel, and one for the bias where there is one.
  /// Throws Error for padding that it does not know, where numbers are not as many as spatial
  /// axes, and for a mask of another shape than the kernel's.
  ConvTranspose(std::int64_t in_features, std::int64_t out_features, const Sizes& kernel_size,
                Rngs& rngs, const ConvTransposeOptions& options = {});
  /// Throws Error where the last axis of x is not I, or x has too few axes.
  Array operator()(const Array& x) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::ConvTranspose)
