#include "strata/compile/kernel/gemm/register_tile.h"

#include <algorithm>

namespace strata::compile {

Tile register_tile(DType accumulator, const CpuTarget& target) {
  int lanes = byte_width(accumulator) > 4 ? 16 : 32;
  return target.avx512 ? Tile{8, lanes} : Tile{6, lanes / 2};
}

Tile narrow_tile(Tile tile, std::int64_t columns, const CpuTarget& target) {
  constexpr int kFewLanes = 4;
  for (const int most = target.avx512 ? 16 : 8;
       columns <= tile.lanes / 2 && tile.lanes > kFewLanes;)
    tile = {std::min(most, 2 * tile.rows), tile.lanes / 2};
  return tile;
}

}  // namespace strata::compile
