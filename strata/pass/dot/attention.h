// Attention in a graph, by what it is and not by how it is spelled:
//
//   scores = q kᵀ                               a product; queries and keys are what is free in its
//   two sides p      = exp(f(scores) - ...) / sum         f: scale, mask, bias, soft cap ...:
//   element by element, with anything of each row out    = p v                                a
//   product that sums over the keys
//
// where the maximum and the sum of a row are reductions over the keys, each, and the division comes
// before or after the second product, or as a logarithm inside the exponential. Backward the same
// probabilities are read by products that sum over queries (for v and k) or keys (for q).
//
// Nothing is rewritten: such scores are passed from launch to launch in parts
// (compile/plan/tile_pipelines.h) whether they are recognised or not. The recogniser tells what is
// found for --explain, and what is in the way where something is almost attention.
// docs/decision/0017-attention.md says why.
#pragma once

#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pass {

/// One line for each product whose exponentials are summed by rows or multiplied by a second
/// product, in the block and in the regions in it:
///
///   attention: stablehlo.dot_general -> tensor<2x8x64x64xf32>: softmax over dimension 3, masked,
///   with gradients not attention: stablehlo.dot_general -> tensor<2x8x64x64xf32>: the
///   probabilities are also a result
std::vector<std::string> describe_attention(const ir::Block& block);

}  // namespace strata::pass
