// Dots for which neither register tiles nor packing pay, and which therefore have kernels of their
// own (narrow_gemm.h, batch_vectorized_dot.h).
#pragma once

#include "strata/ir/graph.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {

/// Whether neither tiles nor packing pay: many products of windows with a few columns each (a
/// convolution whose features are in as many groups, say). Such ones are computed in the order in
/// which the result is, element by element (narrow_gemm.h).
bool is_narrow(const ir::Op& product);

/// Lanes of a batch-vectorised dot: elements of the batch side by side.
inline constexpr int kBatchLanes = 16;
/// Which of the batch's dimensions is the last one of both operands; -1: none.
int minor_batch_dim(const ir::Op& product, const op::Contraction& c);
/// Whether `product` has a batch that is the last dimension of both operands, long enough to fill
/// lanes, and so few other terms that a strip of lanes stays in the second cache.
bool is_batch_vectorized_dot(const ir::Op& product);

}  // namespace strata::compile
