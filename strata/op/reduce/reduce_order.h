// The order in which a reduction combines elements. Its shape alone decides it, so the reference
// evaluator and compiled code, fused or not and on any number of threads, give the same bits.
//
// The n reduced elements of one output are numbered k = 0 .. n-1, row-major over the reduced
// dimensions in ascending order. A plain combiner (add, mul, min, max, and, or, xor) goes
//
//   chunk c covers k in [c * chunk, min(n, (c + 1) * chunk)), in pieces of `piece` elements
//   lane[l] = identity op x[k] op x[k'] ...   for the k of a piece with (k - its first) % lanes ==
//   l, ascending; then halves: lane[i] = lane[i] op lane[i + lanes / 2], until one is left
//   chunk_result[c] = identity op piece[0] op piece[1] ...                    in order
//   acc = identity op chunk_result[0] op chunk_result[1] ...                  in order
//   result = init op acc
//
// with 32 lanes when the minor-most dimension of more than one element is reduced (lanes run along
// memory) and 1 otherwise (lanes run along the outputs instead). bf16 and f16 accumulate in f32 and
// round once, at the end. A chunk is one piece, but where many elements are accumulated in f32:
// there pieces are short, and what they come to is combined in f64, for chunks and for all of them,
// and rounded to f32 before the initial value comes. So a sum of numbers of one sign is off by at
// most (piece / lanes + log2(lanes) + 2) roundings to f32, whatever its length.
//
// A `region` combiner runs over k = 0 .. n-1 in sequence from the initial values, rounding at every
// application; where the region is an argument maximum or minimum (op/reduce/reduce.h) the result
// is defined without an order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "strata/op/reduce/combiner.h"

namespace strata::op {

struct ReduceOrder {
  std::int64_t count = 1;    // reduced elements of one output
  int lanes = 1;             // 32 or 1
  std::int64_t chunk = 256;  // elements of one chunk, a multiple of the piece
  std::int64_t piece = 256;  // elements that lanes take one after another, a multiple of the lanes
  std::int64_t chunks() const { return (count + chunk - 1) / chunk; }
  std::int64_t begin(std::int64_t c) const { return c * chunk; }
  std::int64_t end(std::int64_t c) const { return std::min(count, (c + 1) * chunk); }
  /// Whether pieces are combined in f64: of elements that accumulate in f32.
  bool is_long() const { return piece < chunk; }
};

/// From so many elements on a sum in f32 uses short pieces.
inline constexpr std::int64_t kLongReduction = 1 << 16;

/// The order for reducing an array of a static type over `dims` (ascending or not).
inline ReduceOrder reduce_order(const Type& operand, std::span<const int> dims) {
  ReduceOrder order;
  for (int d : dims) order.count *= operand.shape()[d];
  int minor = operand.rank() - 1;
  while (minor > 0 && operand.shape()[minor] == 1) --minor;
  if (std::find(dims.begin(), dims.end(), minor) != dims.end()) {
    order.lanes = 32;
    order.chunk = 4096;
  }
  const bool is_long = order.count >= kLongReduction && accumulator(operand.dtype()) == DType::f32;
  order.piece = !is_long ? order.chunk : order.lanes > 1 ? 512 : 32;
  return order;
}

/// The definition above on one output: `element(k)` gives the k-th reduced element in the
/// accumulator's type.
template <class T, class F>
T reduce_in_order(const ReduceOrder& order, Combiner combiner, T neutral, T initial, F&& element) {
  auto piece = [&](std::int64_t begin, std::int64_t end) {
    T lane[32];
    std::fill(lane, lane + order.lanes, neutral);
    for (std::int64_t k = begin; k < end; ++k) {
      T& into = lane[(k - begin) % order.lanes];
      into = combine<T>(combiner, into, element(k));
    }
    for (int half = order.lanes / 2; half >= 1; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] = combine<T>(combiner, lane[i], lane[i + half]);
    return lane[0];
  };
  auto all = [&](auto first) {
    using W = decltype(first);
    W total = first;
    for (std::int64_t c = 0; c < order.chunks(); ++c) {
      W chunk = first;
      if (!order.is_long()) chunk = static_cast<W>(piece(order.begin(c), order.end(c)));
      for (std::int64_t k = order.begin(c); order.is_long() && k < order.end(c); k += order.piece)
        chunk = combine<W>(combiner, chunk,
                           static_cast<W>(piece(k, std::min(order.end(c), k + order.piece))));
      total = combine<W>(combiner, total, chunk);
    }
    return static_cast<T>(total);
  };
  if constexpr (std::is_same_v<T, float>)
    if (order.is_long()) return combine<T>(combiner, initial, all(static_cast<double>(neutral)));
  return combine<T>(combiner, initial, all(neutral));
}

}  // namespace strata::op
