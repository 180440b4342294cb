// Products larger than the caches are made, read and forgotten some rows at a time.
//
//   l = x @ w;  p = softmax(l);  ...;  dx = dl @ w';  dw = x' @ dl              (a loss over a
//   vocabulary, with its gradients)
//
// becomes a strata.scan over chunks of the rows of x: those of l and of all that is as large exist
// for one chunk only; what is left of them row by row (losses, dx) is stacked, and products summed
// over the rows (dw) go on from a carry (strata.dot_add). No bit changes: rows do not know each
// other, and chunks follow each other in the order of the sum.
//
// How rows go through an operation is what its sharding factors say. Nothing is chunked where a
// large value is needed afterwards, where rows meet otherwise than in a product, or where what they
// give comes back to the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pass {

struct ChunkOptions {
  std::int64_t large = 12 << 20;  // bytes of a product that is worth it
  std::int64_t chunk = 16 << 20;  // bytes of a chunk of it, about
  std::int64_t rows = 512;  // of a chunk, at least: of fewer, each asks for the other operand again
};

/// For the block and the regions of loops and branches in it. One line for each large product: how
/// it was chunked, or why it was not.
std::vector<std::string> chunk_dots(ir::Block& block, const ChunkOptions& options = {});

}  // namespace strata::pass
