// The rows or the columns of a product's results, in blocks that are points of a kernel's grid, and
// those in tiles.
//
// How many tiles a block has depends on which block it is. It is a value of the kernel: the code of
// a tile is written once for all blocks, and once more only for the shorter tile that the last
// block may end with.
#pragma once

#include "strata/compile/kernel/elemental_emitter.h"

namespace strata::compile {

/// `total` of them in blocks of `block`, of which this one is number `at`. More than one block: a
/// block is so many whole tiles, or all blocks are equal and end with a shorter tile.
struct GemmAxis {
  Index at;
  std::int64_t total = 1, block = 1, tile = 1;

  std::int64_t blocks() const { return (total + block - 1) / block; }
  /// Of the last block.
  std::int64_t last() const { return total - (blocks() - 1) * block; }
  Index begin() const { return at * block; }
};

/// Some of a block's rows or columns: where they begin in the block and in the whole.
struct GemmAxisRange {
  Index local, place;
  std::int64_t length;
};

/// `in_last` in the last block, `in_others` in the others.
Index by_block(loop::Builder& b, const GemmAxis& axis, std::int64_t in_others,
               std::int64_t in_last);

/// `body` for each tile of this block.
void each_tile(loop::Builder& b, const GemmAxis& axis,
               const std::function<void(const GemmAxisRange&)>& body);

}  // namespace strata::compile
