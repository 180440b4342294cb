// The tiles of product.h for one instruction set, which L gives: vectors of each element type and
// how they multiply and add.
//
// Included by product_avx2.cc and its neighbours, each of which is compiled for its own
// instructions.
#pragma once

#include <array>
#include <utility>

#include "strata/loop/kernel/product.h"

namespace strata::loop::product {
namespace {

/// A loop whose turns are written out, so that what it indexes are registers.
#define STRATA_EACH(i, count) _Pragma("GCC unroll 16") for (int i = 0; i < count; ++i)

constexpr int kVectors = 2;  // side by side in a tile

template <class V, class T>
inline __attribute__((always_inline)) V load(const T* from) {
  V x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

/// A tile of `kWanted` rows in registers.
template <class L, class T, int kWanted>
void add_tile(const TileSide<T>& left, const TileSide<T>& right, const Ahead<T>& ahead,
              std::int64_t depth, const TileSums<T>& sums) {
  using V = typename L::template Vector<T>;
  constexpr std::int64_t kLanes = kVectors * static_cast<std::int64_t>(sizeof(V) / sizeof(T));
  V sum[kWanted][kVectors];
  if (sums.from == nullptr) {
    STRATA_EACH(r, kWanted)
    STRATA_EACH(v, kVectors) sum[r][v] = V{};
  } else {
    STRATA_EACH(r, kWanted)
    STRATA_EACH(v, kVectors)
    sum[r][v] = load<V>(sums.from + r * sums.from_step + v * (kLanes / kVectors));
  }
  const T* row_at[kWanted];
  STRATA_EACH(r, kWanted) row_at[r] = left.at + r * left.place;
  const std::int64_t left_step = left.step;
  const T* column_at = right.at;
  const T* ahead_at = ahead.at;
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t k = 0; k < depth; ++k, column_at += right.step, ahead_at += ahead.step) {
    __builtin_prefetch(ahead_at, 0, 2);
    __builtin_prefetch(ahead_at + kLine, 0, 2);
    V column[kVectors];
    STRATA_EACH(v, kVectors) column[v] = load<V>(column_at + v * (kLanes / kVectors));
    STRATA_EACH(r, kWanted) {
      const V row = L::all(row_at[r][k * left_step], V{});
      STRATA_EACH(v, kVectors) sum[r][v] = L::multiply_add(row, column[v], sum[r][v]);
    }
  }
  T* to[kVectors];
  STRATA_EACH(v, kVectors) to[v] = sums.to + v * (kLanes / kVectors);
  if (sums.stream) {
    STRATA_EACH(r, kWanted)
    STRATA_EACH(v, kVectors) L::stream(to[v] + r * sums.to_step, sum[r][v]);
  } else {
    STRATA_EACH(r, kWanted)
    STRATA_EACH(v, kVectors) __builtin_memcpy(to[v] + r * sums.to_step, &sum[r][v], sizeof(V));
  }
}

template <class L, class T, int kTileRows>
struct Tiles {
  using Add = void (*)(const TileSide<T>&, const TileSide<T>&, const Ahead<T>&, std::int64_t,
                       const TileSums<T>&);
  template <std::size_t... I>
  static constexpr std::array<Add, kTileRows> make(std::index_sequence<I...>) {
    return {add_tile<L, T, static_cast<int>(I) + 1>...};
  }
  static constexpr std::array<Add, kTileRows> all = make(std::make_index_sequence<kTileRows>());
};

template <class L, class T, int kTileRows>
constexpr TileOf<T> tile() {
  return {kTileRows,
          kVectors * static_cast<std::int64_t>(sizeof(typename L::template Vector<T>) / sizeof(T)),
          Tiles<L, T, kTileRows>::all.data()};
}

template <class L, int kTileRows>
constexpr InstructionSet instructions(const char* name, bool (*present)()) {
  return {name,
          present,
          tile<L, float, kTileRows>(),
          tile<L, double, kTileRows>(),
          tile<L, std::uint32_t, kTileRows>(),
          tile<L, std::uint64_t, kTileRows>()};
}

}  // namespace
}  // namespace strata::loop::product
