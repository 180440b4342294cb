// The order in which a reduction combines elements. Its shape alone decides it, so the reference
// evaluator and compiled code, fused or not and on any number of threads, give the same bits.
//
// The n reduced elements of one output are numbered k = 0 .. n-1, row-major over the reduced
// dimensions in ascending order. A plain combiner (add, mul, min, max, and, or, xor) goes
//
//   chunk c covers k in [c * chunk, min(n, (c + 1) * chunk))
//   lane[l] = identity op x[k] op x[k'] ...   for the k of the chunk with (k - c * chunk) % lanes
//   == l, ascending then halves: lane[i] = lane[i] op lane[i + lanes / 2], until one is left:
//   chunk_result[c] acc = identity op chunk_result[0] op chunk_result[1] ...   in order result =
//   init op acc
//
// with 32 lanes when the minor-most dimension of more than one element is reduced (lanes lie along
// memory) and 1 otherwise (lanes lie along the outputs instead). bf16 and f16 accumulate in f32 and
// round once, at the end. A `region` combiner runs over k = 0 .. n-1 in sequence from the initial
// values, rounding at every application; where the region is an argument maximum or minimum
// (op/reduce.h) the result is defined without an order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "strata/op/combiner.h"

namespace strata::op {

struct ReduceOrder {
  std::int64_t count = 1;    // reduced elements of one output
  int lanes = 1;             // 32 or 1
  std::int64_t chunk = 256;  // elements of one chunk, a multiple of the lanes
  std::int64_t chunks() const { return (count + chunk - 1) / chunk; }
  std::int64_t begin(std::int64_t c) const { return c * chunk; }
  std::int64_t end(std::int64_t c) const { return std::min(count, (c + 1) * chunk); }
};

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
  return order;
}

/// The definition above on one output: `element(k)` gives the k-th reduced element in the
/// accumulator's type.
template <class T, class F>
T reduce_in_order(const ReduceOrder& order, Combiner combiner, T neutral, T initial, F&& element) {
  T total = neutral;
  for (std::int64_t c = 0; c < order.chunks(); ++c) {
    T lane[32];
    std::fill(lane, lane + order.lanes, neutral);
    for (std::int64_t k = order.begin(c); k < order.end(c); ++k) {
      T& into = lane[(k - order.begin(c)) % order.lanes];
      into = combine<T>(combiner, into, element(k));
    }
    for (int half = order.lanes / 2; half >= 1; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] = combine<T>(combiner, lane[i], lane[i + half]);
    total = combine<T>(combiner, total, lane[0]);
  }
  return combine<T>(combiner, initial, total);
}

}  // namespace strata::op
