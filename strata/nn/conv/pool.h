// Pools: windows along the axes before the features, channels last.
//
//   Array y = nn::max_pool(x, {2, 2}, {.strides = {2, 2}});    // (..., 32, 32, 8) -> (..., 16, 16,
//   8)
#pragma once

#include "strata/nn/conv/padding.h"

namespace strata::nn {

struct PoolOptions {
  strata::internal::Named named = strata::internal::Named();
  /// One number for each axis of the window; 1 where left out.
  Sizes strides = {};
  Padding padding = "VALID";
  /// Of avg_pool: whether padding counts as zeros; else the mean is of what there is.
  bool count_include_pad = true;
};

/// The mean of each window, in the dtype of x; integers give floats. Throws Error where x has fewer
/// axes than the window and the features, and where strides or padding are not as many as the
/// window's axes. Source: Flax's pooling.
Array avg_pool(const Array& x, const Sizes& window_shape, const PoolOptions& options = {});
/// The greatest number of each window, in the dtype of x; padding counts as -inf, of integers as
/// the least one. Errors as avg_pool's.
Array max_pool(const Array& x, const Sizes& window_shape, const PoolOptions& options = {});
/// The least number of each window, in the dtype of x; padding counts as inf, of integers as the
/// greatest one. Errors as avg_pool's.
Array min_pool(const Array& x, const Sizes& window_shape, const PoolOptions& options = {});

/// Any reduction: the elements of each window and `init`, combined by an associative function of
/// two numbers.
Array pool(const Array& x, const Array& init,
           const std::function<Array(const Array&, const Array&)>& reduce,
           const Sizes& window_shape, const PoolOptions& options = {});

}  // namespace strata::nn
