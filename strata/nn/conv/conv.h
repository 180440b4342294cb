// Convolutions of images, sounds, volumes: channels last.
//
//   nn::Conv conv(3, 64, {3, 3}, rngs, {.strides = 2});
//   Array y = conv(x);            // (..., 32, 32, 3) -> (..., 16, 16, 64)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/conv/constant.h"
#include "strata/nn/conv/padding.h"
#include "strata/nn/linear/linear.h"

namespace strata::nn {

struct ConvOptions {
  strata::internal::Named named = strata::internal::Named();
  /// One number for each spatial axis, or one for all.
  Sizes strides = {};
  /// Besides lax's "SAME", "SAME_LOWER" and "VALID": "CIRCULAR" goes on at the other end,
  /// "REFLECT" backwards, "CAUSAL" (one spatial axis) has zeros before only.
  Padding padding = "SAME";
  Sizes input_dilation = {}, kernel_dilation = {};
  /// Features in so many groups, each with its part of the kernel.
  std::int64_t feature_group_count = 1;
  bool use_bias = true;
  /// Of the kernel's shape; multiplies it before it is cast.
  std::optional<Array> mask = std::nullopt;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros;
  DType param_dtype = DType::f32;
  ProductOptions product = {};
  Metadata kernel_metadata = {}, bias_metadata = {};
};

/// A convolution: x (batch..., spatial..., I), result (batch..., spatial..., O), for any number of
/// batch axes and of spatial ones, which the kernel's size tells. Source: Flax NNX's Conv.
struct Conv {
  Param kernel;                  // (size..., I / groups, O)
  std::optional<Param> bias;     // (O)
  std::optional<Constant> mask;  // of the kernel's shape
  std::vector<std::int64_t> strides, input_dilation, kernel_dilation;
  Padding padding = "SAME";
  std::int64_t feature_group_count = 1;
  ProductOptions product;
  STRATA_FIELDS(kernel, bias, mask, strides, input_dilation, kernel_dilation, padding,
                feature_group_count, product)

  Conv() = default;
  /// Takes a key of the stream "params" for the kernel, and one for the bias where there is one.
  /// Throws Error where features do not go into the groups, where numbers are not as many as
  /// spatial axes, and for a mask of another shape than the kernel's.
  Conv(std::int64_t in_features, std::int64_t out_features, const Sizes& kernel_size, Rngs& rngs,
       const ConvOptions& options = {});
  /// Throws Error where the last axis of x is not I, or x has too few axes.
  Array operator()(const Array& x) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::Conv)
