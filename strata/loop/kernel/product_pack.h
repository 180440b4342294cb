// How the kernels of products lay out a side of a block for the tiles of product.h: as panels of so
// many places as a tile has, step by step of k.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "strata/type/float.h"

namespace strata::loop::product {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;
template <class T>
inline constexpr bool is_whole = std::is_integral_v<T>;

template <class A, class S>
A widened(S x) {
  if constexpr (is_half<S>)
    return static_cast<A>(static_cast<float>(x));
  else
    return static_cast<A>(x);
}
template <class S, class A>
S narrowed(A x) {
  if constexpr (is_half<S>)
    return S(static_cast<float>(x));
  else
    return static_cast<S>(x);
}
using Four = std::uint32_t __attribute__((vector_size(16)));
/// Four columns of four neighbours in k each, as four rows.
inline void turn(const Four (&in)[4], Four (&out)[4]) {
  const Four low = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
             high = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const Four low2 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5),
             high2 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  out[0] = __builtin_shufflevector(low, low2, 0, 1, 4, 5),
  out[1] = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
  out[2] = __builtin_shufflevector(high, high2, 0, 1, 4, 5),
  out[3] = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
}

/// Four rows of four elements of 4 bytes each, at row(0) to row(3), as four columns.
template <class T, class Row>
void turn_four(Row row, T* to, std::int64_t to_step) {
  Four in[4], out[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&in[i], row(i), sizeof in[i]);
  turn(in, out);
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_step, &out[i], sizeof out[i]);
}

/// One side of a product: its elements, and where the places of the block and of k are.
template <class S>
struct Side {
  const S* from;
  const std::int64_t *places, *ks;
  bool places_lie_together, ks_lie_together;
};

/// So many elements, a number that the compiler knows.
template <int kCount, class A, class S>
void copy_widened(const S* from, A* to) {
  if constexpr (std::is_same_v<S, A>)
    std::memcpy(to, from, sizeof(A) * kCount);
  else
    for (int x = 0; x < kCount; ++x) to[x] = widened<A>(from[x]);
}

/// Whether rows that are so far apart fall on each other in the first cache, so that a tile of more
/// rows than it has ways would push its own lines out.
inline bool rows_collide(std::int64_t bytes_apart) {
  constexpr std::int64_t kApart = 2048;
  return bytes_apart != 0 && bytes_apart % kApart == 0;
}

/// `count` places as panels of `width`, each [depth][width], with zeros beyond the last place.
template <class A, class S>
void pack(const Side<S>& side, std::int64_t count, std::int64_t depth, std::int64_t width, A* out) {
  if (const std::int64_t rest = count % width; rest != 0)
    std::fill(out + (count - rest) * depth, out + (count - rest + width) * depth, A{});
  auto panel = [&](std::int64_t place) {
    return out + place * depth;
  };  // of the panel's first place
  if (side.places_lie_together) {  // row by row, as they are in memory
    for (std::int64_t k = 0; k < depth; ++k) {
      const S* row = side.from + side.places[0] + side.ks[k];
      constexpr std::int64_t kAhead = 6, kLine = 64 / static_cast<std::int64_t>(sizeof(S));
      if (k + kAhead < depth)  // another page, where the processor does not look ahead by itself
        for (std::int64_t p = 0; p < count; p += kLine)
          __builtin_prefetch(side.from + side.places[0] + side.ks[k + kAhead] + p);
      for (std::int64_t p = 0; p < count; p += width) {
        A* to = panel(p) + k * width;
        switch (const std::int64_t have = std::min(width, count - p); have) {
          case 12: copy_widened<12>(row + p, to); break;
          case 16: copy_widened<16>(row + p, to); break;
          case 32: copy_widened<32>(row + p, to); break;
          default:
            for (std::int64_t x = 0; x < have; ++x) to[x] = widened<A>(row[p + x]);
        }
      }
    }
    return;
  }
  // A few steps of a panel at a time, so that the lines written stay in the first cache; by squares
  // where they can be turned in registers.
  constexpr std::int64_t kSteps = 16;
  for (std::int64_t p = 0; p < count; p += width)
    for (std::int64_t k = 0; k < depth; k += kSteps) {
      const std::int64_t have = std::min(width, count - p), last = std::min(k + kSteps, depth);
      const std::int64_t* places = side.places + p;
      std::int64_t x = 0;
      if constexpr (std::is_same_v<S, A> && sizeof(S) == 4)
        if (side.ks_lie_together && last == k + kSteps)
          for (; x + 4 <= have; x += 4)
            for (std::int64_t u = k; u < last; u += 4)
              turn_four([&](int i) { return side.from + places[x + i] + side.ks[u]; },
                        panel(p) + u * width + x, width);
      for (; x < have; ++x) {
        const S* column = side.from + places[x];
        for (std::int64_t u = k; u < last; ++u)
          panel(p)[u * width + x] = widened<A>(column[side.ks[u]]);
      }
    }
}

/// Memory that a thread keeps for its next product: at most what one block takes.
inline void* scratch(std::size_t bytes) {
  thread_local std::vector<std::max_align_t> kept;
  const std::size_t count = (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  if (kept.size() < count) kept = std::vector<std::max_align_t>(count);
  return kept.data();
}

}  // namespace strata::loop::product
