#include "strata/compile/kernel/gemm/gemm_axis.h"

#include <algorithm>

namespace strata::compile {

using loop::Opcode;

Index by_block(loop::Builder& b, const GemmAxis& axis, std::int64_t in_others,
               std::int64_t in_last) {
  if (axis.blocks() == 1 || in_others == in_last) return in_last;
  Inst* is_other = b.less(axis.at, axis.blocks() - 1);
  Inst* chosen = b.select(is_other, b.constant_int(DType::i64, in_others),
                          b.constant_int(DType::i64, in_last));
  return b.index_of(chosen, std::min(in_others, in_last), std::max(in_others, in_last));
}

void each_tile(loop::Builder& b, const GemmAxis& axis,
               const std::function<void(const GemmAxisRange&)>& body) {
  const std::int64_t last_tiles = axis.last() / axis.tile, rest = axis.last() % axis.tile;
  auto whole = [&](Index i) {
    Index place = axis.begin() + i * axis.tile;
    if (axis.last() !=
        axis.block) {  // says what ranges cannot know, so that indices of several dimensions need
                       // no division; in whole tiles, where blocks are
      const std::int64_t unit = axis.block % axis.tile ? 1 : axis.tile,
                         most = (axis.total - axis.tile) / unit;
      const Index number = axis.at * (axis.block / unit) + i * (axis.tile / unit);
      place = b.index_of(b.binary(Opcode::min, b.value(number), b.constant_int(DType::i64, most)),
                         0, most) *
              unit;
    }
    body({i * axis.tile, place, axis.tile});
  };
  Index tiles = by_block(b, axis, axis.block / axis.tile, last_tiles);
  if (tiles == Index(1))
    whole(0);
  else if (tiles.max() > 0)
    b.for_(0, tiles, 1, whole);
  if (rest == 0) return;
  if (axis.block % axis.tile)
    return body({last_tiles * axis.tile, axis.begin() + last_tiles * axis.tile,
                 rest});  // each block ends so
  b.if_(b.less(axis.blocks() - 2, axis.at),
        [&] { body({last_tiles * axis.tile, axis.total - rest, rest}); });
}

}  // namespace strata::compile
