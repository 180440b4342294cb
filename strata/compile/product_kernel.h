// Kernels of dot_general: register tiles over packed panels, generated for the shapes at hand.
//
// Every output element is one chain of fused multiply-adds over k = 0 .. K-1, whatever the tiles, blocks and threads
// (decisions.md 3). Operands narrower than the accumulator are widened where they are packed; where the processor is faster with
// pairs of bf16, those go through `dot2` (docs/exceptions.md). So do integers of at most 16 bits, whose sums are the same in any order,
// and bytes through `dot4`, by fours.
#pragma once

#include "strata/compile/kernel_build.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// Register tile: `rows` accumulators of `lanes` columns. Chosen from the target's vector registers; changes no bit.
struct Tile {
  int rows = 8, lanes = 32;
};
Tile register_tile(DType accumulator, const CpuTarget& target);
/// For few columns: as narrow, down to four lanes, of up to sixteen rows; of eight where registers are sixteen, of which the sums take half. Of more, rows a power of two apart would also push each
/// other out of a cache of eight ways (4096 x 1024 f32 by 8 columns on a Zen 3: 1.6 ms by twelve rows, 0.86 by eight).
Tile narrow_tile(Tile tile, std::int64_t columns, const CpuTarget& target);

Built build_product(const Group& group, const Fusion& fusion, const CpuTarget& target);

}  // namespace strata::compile
