// The register tile of products: how many rows of how many columns are summed at once.
#pragma once

#include "strata/compile/llvm/target.h"
#include "strata/type/dtype.h"

namespace strata::compile {

/// Register tile: `rows` accumulators of `lanes` columns. Chosen from the target's vector
/// registers; changes no bit.
struct Tile {
  int rows = 8, lanes = 32;
};
Tile register_tile(DType accumulator, const CpuTarget& target);
/// For few columns: as narrow, down to four lanes, of up to sixteen rows; of eight where registers
/// are sixteen, of which the sums take half. Of more, rows a power of two apart would also push
/// each other out of a cache of eight ways (4096 x 1024 f32 by 8 columns on a Zen 3: 1.6 ms by
/// twelve rows, 0.86 by eight).
Tile narrow_tile(Tile tile, std::int64_t columns, const CpuTarget& target);

}  // namespace strata::compile
