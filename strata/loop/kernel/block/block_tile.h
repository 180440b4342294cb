// The sums of block_dot.h for one instruction set L (block_decode.h says what it gives; fma too,
// and total(F[32 / kWidth]): 32 partial sums to one, by halves).
#pragma once

#include <array>
#include <utility>

#include "strata/loop/kernel/block/block_decode.h"

namespace strata::loop::block {
namespace {

/// Asks for a block of the rows that come next: no processor foresees the step from row to row.
template <int kBytes>
STRATA_INLINE void fetch(Bytes at) {
  for (int line = 0; line < kBytes; line += 64) __builtin_prefetch(at + line);
}

template <class L, BlockKind kKind, int kRows>
void dot_rows(const float* x, Bytes w, std::int64_t row_bytes, std::int64_t blocks, float* y) {
  using F = typename L::F;
  constexpr BlockLayout kLayout = kBlockLayouts[static_cast<int>(kKind)];
  constexpr int kVectors = 32 / L::kWidth;
  F sums[kRows][kVectors];
  STRATA_EACH(r, kRows)
  STRATA_EACH(v, kVectors) sums[r][v] = L::all(0);
  for (std::int64_t i = 0; i < blocks; ++i, w += kLayout.bytes, x += kLayout.elements) {
    STRATA_EACH(r, kRows) {
      fetch<kLayout.bytes>(w + (r + kRows) * row_bytes);
      const Block<L, kKind> block(w + r * row_bytes);
      STRATA_EACH(j, kLayout.elements / 32) {
        F numbers[kVectors];
        block.group(j, numbers);
        STRATA_EACH(v, kVectors)
        sums[r][v] = L::fma(numbers[v], L::load(x + 32 * j + v * L::kWidth), sums[r][v]);
      }
    }
  }
  STRATA_EACH(r, kRows) y[r] = L::total(sums[r]);
}

template <class L, BlockKind kKind>
void dot(const float* x, Bytes w, std::int64_t row_bytes, std::int64_t blocks, int rows, float* y) {
  int r = 0;
  for (; r + kMostTileRows <= rows; r += kMostTileRows)
    dot_rows<L, kKind, kMostTileRows>(x, w + r * row_bytes, row_bytes, blocks, y + r);
  for (; r < rows; ++r) dot_rows<L, kKind, 1>(x, w + r * row_bytes, row_bytes, blocks, y + r);
}

template <class L, BlockKind kKind>
void decode(Bytes blocks, std::int64_t count, float* numbers) {
  constexpr BlockLayout kLayout = kBlockLayouts[static_cast<int>(kKind)];
  for (std::int64_t i = 0; i < count; ++i) {
    const Block<L, kKind> block(blocks + i * kLayout.bytes);
    STRATA_EACH(j, kLayout.elements / 32) {
      typename L::F out[32 / L::kWidth];
      block.group(j, out);
      STRATA_EACH(v, 32 / L::kWidth)
      L::store(numbers + i * kLayout.elements + 32 * j + v * L::kWidth, out[v]);
    }
  }
}

template <class L, int kX, int kW>
void tile_of(const Tile& t) {
  using F = typename L::F;
  constexpr int kVectors = 32 / L::kWidth;
  F sums[kX][kW][kVectors];
  STRATA_EACH(i, kX)
  STRATA_EACH(o, kW)
  STRATA_EACH(v, kVectors) sums[i][o][v] = L::all(0);
  for (std::int64_t k = 0; k < t.in; k += 32) {
    STRATA_EACH(v, kVectors) {
      const std::int64_t at = k + v * L::kWidth;
      F w[kW];
      STRATA_EACH(o, kW) w[o] = L::load(t.w + o * t.w_step + at);
      STRATA_EACH(i, kX) {
        const F x = L::load(t.x + i * t.x_step + at);
        STRATA_EACH(o, kW) sums[i][o][v] = L::fma(w[o], x, sums[i][o][v]);
      }
    }
  }
  STRATA_EACH(i, kX)
  STRATA_EACH(o, kW) t.y[i * t.y_step + o] = L::total(sums[i][o]);
}

template <class L, int kRows>
void outer_of(const OuterTile& t) {
  using F = typename L::F;
  constexpr int kVectors = 32 / L::kWidth;
  for (std::int64_t k = 0; k < t.in; k += 32) {
    F sums[kRows][kVectors];
    STRATA_EACH(i, kRows)
    STRATA_EACH(v, kVectors) sums[i][v] = L::load(t.y + i * t.y_step + k + v * L::kWidth);
    for (std::int64_t o = 0; o < t.out; ++o) {
      F w[kVectors];
      STRATA_EACH(v, kVectors) w[v] = L::load(t.w + o * t.w_step + k + v * L::kWidth);
      STRATA_EACH(i, kRows) {
        const F g = L::all(t.g[i * t.g_step + o]);
        STRATA_EACH(v, kVectors) sums[i][v] = L::fma(w[v], g, sums[i][v]);
      }
    }
    STRATA_EACH(i, kRows)
    STRATA_EACH(v, kVectors) L::store(t.y + i * t.y_step + k + v * L::kWidth, sums[i][v]);
  }
}

/// So many rows up to L's.
template <class L>
struct OuterTiles {
  using Run = void (*)(const OuterTile&);
  template <std::size_t... i>
  static constexpr std::array<Run, L::kTileX> make(std::index_sequence<i...>) {
    return {outer_of<L, static_cast<int>(i) + 1>...};
  }
  static constexpr std::array<Run, L::kTileX> all = make(std::make_index_sequence<L::kTileX>());
  static void run(const OuterTile& t, int rows) { all[static_cast<std::size_t>(rows - 1)](t); }
};

/// A tile of any size up to L's.
template <class L>
struct Tiles {
  static constexpr int kX = L::kTileX, kW = L::kTileW;
  using Run = void (*)(const Tile&);
  template <std::size_t... i>
  static constexpr std::array<Run, kX * kW> make(std::index_sequence<i...>) {
    return {tile_of<L, static_cast<int>(i) / kW + 1, static_cast<int>(i) % kW + 1>...};
  }
  static constexpr std::array<Run, kX * kW> all = make(std::make_index_sequence<kX * kW>());
  static void run(const Tile& t, int x_rows, int w_rows) {
    all[static_cast<std::size_t>((x_rows - 1) * kW + w_rows - 1)](t);
  }
};

template <class L>
struct Formats {
  using Dot = void (*)(const float*, Bytes, std::int64_t, std::int64_t, int, float*);
  using Decode = void (*)(Bytes, std::int64_t, float*);
  template <std::size_t... i>
  static constexpr std::array<Dot, kFormats> dots(std::index_sequence<i...>) {
    return {dot<L, static_cast<BlockKind>(i)>...};
  }
  template <std::size_t... i>
  static constexpr std::array<Decode, kFormats> decoders(std::index_sequence<i...>) {
    return {decode<L, static_cast<BlockKind>(i)>...};
  }
  static constexpr auto dot_of = dots(std::make_index_sequence<kFormats>());
  static constexpr auto decode_of = decoders(std::make_index_sequence<kFormats>());
};

template <class L>
constexpr InstructionSet instructions(const char* name, bool (*present)()) {
  return {
      name,      present,   Formats<L>::dot_of.data(), Formats<L>::decode_of.data(), Tiles<L>::run,
      L::kTileX, L::kTileW, OuterTiles<L>::run};
}

}  // namespace
}  // namespace strata::loop::block
