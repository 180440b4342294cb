// The order in which a cumulative operation combines: what op/reduce/reduce_order.h is to
// reductions.
//
// The n elements of one line are numbered k = 0 .. n-1 in the direction of the operation. They
// stand in strips of 1 or 16 lanes, tiles of 16 strips, chunks of 16 tiles:
//
//   before = identity op chunks[0] op chunks[1] ...                        the chunks before this
//   one, in order before = before op (identity op tiles[0] op tiles[1] ...)              and the
//   tiles of this chunk before this one lane[l] = x[k]; then for h = 1, 2, 4, 8: lane[l] = (l < h ?
//   identity : lane[l - h]) op lane[l]    within the strip run[l] = run op lane[l], where `run` is
//   the last lane of the strip before in this tile, or the identity y[k] = start op (before op
//   run[l])
//
// A tile's total is the last `run` in it, a chunk's its tiles' in order. So an element goes through
// about n / 4096 + 36 additions, not n. Lanes are 16 when the dimension is the last with more than
// one element (lanes run along memory) and 1 otherwise. bf16 and f16 accumulate in f32 and round
// once, at the end. With blocks, every `block` elements are a line of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "strata/op/reduce/combiner.h"

namespace strata::op {

struct CumulativeOrder {
  static constexpr std::int64_t kFan = 16;
  int lanes = 1;
  std::int64_t tile() const { return lanes * kFan; }
  std::int64_t chunk() const { return tile() * kFan; }
  /// A line of more than this is cut into blocks whose totals are a line in turn
  /// (op/reduce/reduce_window.cc).
  std::int64_t block() const { return chunk() * kFan; }
};

inline CumulativeOrder cumulative_order(const Shape& shape, int dim) {
  std::int64_t inner = 1;
  for (int d = dim + 1; d < shape.rank(); ++d) inner *= shape[d];
  return {inner == 1 ? 16 : 1};
}

/// The definition above on one line: element(k) gives, result(k, y) takes, both in the
/// accumulator's type; `start` is not in y yet.
template <class T, class F, class G>
void cumulate_in_order(const CumulativeOrder& order, Combiner combiner, T neutral, std::int64_t n,
                       F&& element, G&& result) {
  auto op = [&](T a, T b) { return combine<T>(combiner, a, b); };
  T chunks = neutral, tiles = neutral;
  for (std::int64_t tile = 0; tile < n; tile += order.tile()) {
    if (tile % order.chunk() == 0) {
      if (tile > 0) chunks = op(chunks, tiles);
      tiles = neutral;
    }
    T before = op(chunks, tiles), run = neutral;
    std::int64_t end = std::min(n, tile + order.tile());
    for (std::int64_t strip = tile; strip < end; strip += order.lanes) {
      T lane[16];
      int living = static_cast<int>(std::min<std::int64_t>(order.lanes, end - strip));
      for (int l = 0; l < living; ++l) lane[l] = element(strip + l);
      for (int h = 1; h < order.lanes; h *= 2)
        for (int l = living - 1; l >= 0; --l) lane[l] = op(l < h ? neutral : lane[l - h], lane[l]);
      for (int l = 0; l < living; ++l) result(strip + l, op(before, lane[l] = op(run, lane[l])));
      run = lane[living - 1];
    }
    tiles = op(tiles, run);
  }
}

}  // namespace strata::op
