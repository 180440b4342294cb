// Levels of packed blocks as bytes, 32 at a time, and their sums for block_int8.h, for one
// instruction set: L gives
//
//   B, 32 signed bytes with + - and & | of B; F, eight f32; all(byte), bytes(at), pair(at): 16
//   bytes twice, halves(low, high): the first half of one and the second of the other, right(B,
//   bits): each byte shifted as a number without a sign, lookup(table, B) of four bits, bits(word):
//   byte i holds bit i; dot(level, n): 32-bit sums of four products, as f32, dot_natural
//   of levels that are not negative; number(x), both(a, b):
//   four lanes each; load, store, fma; half(at): an f16.
//
// Included by block_int8_avx2.cc and its neighbours, each compiled for its own instructions.
#pragma once

#include <array>
#include <utility>

#include "strata/loop/kernel/block_int8.h"
#include "strata/type/block_encode.h"

namespace strata::loop::block8 {
namespace {

#ifdef STRATA_SMALL_CODE
#define STRATA_EACH(i, count) for (int i = 0; i < count; ++i)
#define STRATA_INLINE inline
#else
#define STRATA_EACH(i, count) _Pragma("GCC unroll 32") for (int i = 0; i < count; ++i)
#define STRATA_INLINE __attribute__((always_inline)) inline
#endif

using Bytes = const std::uint8_t*;

/// 32 levels and what makes numbers of them; lanes 0 .. 3 of the vectors are of the first half.
template <class L>
struct Levels {
  typename L::B levels;
  typename L::F scale, minimum;
};

constexpr bool has_minimum(BlockKind k) {
  return k == BlockKind::q4_1 || k == BlockKind::q5_1 || k == BlockKind::q2_k ||
         k == BlockKind::q4_k || k == BlockKind::q5_k;
}

/// Nibbles of 16 bytes: the low ones, then the high ones.
template <class L>
STRATA_INLINE typename L::B nibbles(Bytes q) {
  const typename L::B twice = L::pair(q);
  return L::halves(twice & L::all(15), L::right(twice, 4));
}
/// Nibbles of 32 bytes, all low or all high.
template <class L>
STRATA_INLINE typename L::B nibbles_of(Bytes q, bool high) {
  const typename L::B b = L::bytes(q);
  return high ? L::right(b, 4) : b & L::all(15);
}

/// 2^(e - 128).
STRATA_INLINE float power(std::uint32_t e) {
  const std::uint32_t bits = e < 2 ? 0x00200000u << e : (e - 1) << 23;
  float out;
  __builtin_memcpy(&out, &bits, sizeof out);
  return out;
}

/// Group j of a block.
template <class L, BlockKind kKind>
STRATA_INLINE Levels<L> levels_of(Bytes b, int j) {
  using B = typename L::B;
  auto by = [](float scale, B levels) { return Levels<L>{levels, L::number(scale), L::number(0)}; };
  auto with = [](float scale, float minimum, B levels) {
    return Levels<L>{levels, L::number(scale), L::number(minimum)};
  };
  auto word = [](Bytes at) {
    std::uint32_t out;
    __builtin_memcpy(&out, at, sizeof out);
    return out;
  };
  auto sixteen = [&](Bytes at) { return L::bits(word(at)) & L::all(16); };
  if constexpr (kKind == BlockKind::q4_0) {
    return by(L::half(b), nibbles<L>(b + 2) - L::all(8));
  } else if constexpr (kKind == BlockKind::q4_1) {
    return with(L::half(b), L::half(b + 2), nibbles<L>(b + 4));
  } else if constexpr (kKind == BlockKind::q5_0) {
    return by(L::half(b), (nibbles<L>(b + 6) | sixteen(b + 2)) - L::all(16));
  } else if constexpr (kKind == BlockKind::q5_1) {
    return with(L::half(b), L::half(b + 2), nibbles<L>(b + 8) | sixteen(b + 4));
  } else if constexpr (kKind == BlockKind::q8_0) {
    return by(L::half(b), L::bytes(b + 2));
  } else if constexpr (kKind == BlockKind::iq4_nl) {
    return by(L::half(b), L::lookup(kIq4Values, nibbles<L>(b + 2)));
  } else if constexpr (kKind == BlockKind::mxfp4) {
    return by(power(b[0]), L::lookup(kMxfp4Values, nibbles<L>(b + 1)));
  } else if constexpr (kKind == BlockKind::iq4_xs) {
    const int high = b[2] | b[3] << 8;
    const int scale = (b[4 + j / 2] >> 4 * (j & 1) & 15) | (high >> 2 * j & 3) << 4;
    return by(L::half(b) * static_cast<float>(scale - 32),
              L::lookup(kIq4Values, nibbles<L>(b + 8 + 16 * j)));
  } else if constexpr (kKind == BlockKind::q4_k || kKind == BlockKind::q5_k) {
    const float scale = L::half(b) * static_cast<float>(strata::packed_block::scale_of(b + 4, j)),
                minimum =
                    -(L::half(b + 2) * static_cast<float>(strata::packed_block::min_of(b + 4, j)));
    constexpr bool kFive = kKind == BlockKind::q5_k;
    const B low = nibbles_of<L>(b + (kFive ? 48 : 16) + 32 * (j / 2), j % 2 != 0);
    if constexpr (!kFive) return with(scale, minimum, low);
    const B fifth = L::right(L::bytes(b + 16), j) & L::all(1);
    return with(scale, minimum, low | L::left(fifth, 4));
  } else if constexpr (kKind == BlockKind::q2_k) {
    const float d = L::half(b + 80), dmin = L::half(b + 82);
    const int s = b[2 * j], t = b[2 * j + 1];
    return {L::right(L::bytes(b + 16 + 32 * (j / 4)), 2 * (j % 4)) & L::all(3),
            L::both(d * static_cast<float>(s & 15), d * static_cast<float>(t & 15)),
            L::both(-(dmin * static_cast<float>(s >> 4)), -(dmin * static_cast<float>(t >> 4)))};
  } else if constexpr (kKind == BlockKind::q3_k) {
    const Bytes s = b + 96;
    const float d = L::half(b + 108);
    auto scale = [&](int k) {
      const int low = k < 8 ? s[k] & 15 : s[k - 8] >> 4;
      return d * static_cast<float>((low | (s[8 + k % 4] >> 2 * (k / 4) & 3) << 4) - 32);
    };
    const B low = L::right(L::bytes(b + 32 + 32 * (j / 4)), 2 * (j % 4)) & L::all(3);
    const B high = L::right(L::bytes(b), j) & L::all(1);
    return {low + L::left(high, 2) - L::all(4), L::both(scale(2 * j), scale(2 * j + 1)),
            L::number(0)};
  } else {
    static_assert(kKind == BlockKind::q6_k);
    const int h = j / 4, g = j % 4;
    const float d = L::half(b + 208);
    auto scale = [&](int k) {
      return d * static_cast<float>(static_cast<std::int8_t>(b[192 + k]));
    };
    const B low = nibbles_of<L>(b + 64 * h + 32 * (g & 1), g >= 2);
    const B high = L::right(L::bytes(b + 128 + 32 * h), 2 * g) & L::all(3);
    return {(low | L::left(high, 4)) - L::all(32), L::both(scale(2 * j), scale(2 * j + 1)),
            L::number(0)};
  }
}

/// One or several rows of x by one or several rows of w.
template <class L, BlockKind kKind, int kX, int kW>
void dot_rows(const Row* x, Bytes w, std::int64_t row_bytes, std::int64_t blocks, float* y,
              std::int64_t y_step) {
  using F = typename L::F;
  constexpr BlockLayout kLayout = kBlockLayouts[static_cast<int>(kKind)];
  constexpr int kGroups = kLayout.elements / 32;
  F sums[kW][kX];
  STRATA_EACH(o, kW)
  STRATA_EACH(i, kX) sums[o][i] = L::number(0);
  for (std::int64_t n = 0; n < blocks; ++n, w += kLayout.bytes) {
    // Of the rows that come next: no processor foresees the step from row to row.
    STRATA_EACH(o, kW)
    for (int line = 0; line < kLayout.bytes; line += 64)
      __builtin_prefetch(w + (o + kW) * row_bytes + line);
    STRATA_EACH(j, kGroups) {
      const std::int64_t g = n * kGroups + j;
      STRATA_EACH(o, kW) {
        const Levels<L> v = levels_of<L, kKind>(w + o * row_bytes, j);
        STRATA_EACH(i, kX) {
          const Group& group = x[i].groups[g];
          const F d = L::number(x[i].scales[g]);
          const F levels =
              has_minimum(kKind) ? L::dot_natural(v.levels, group.n) : L::dot(v.levels, group.n);
          sums[o][i] = L::fma(levels, v.scale * d, sums[o][i]);
          if constexpr (has_minimum(kKind))
            sums[o][i] = L::fma(L::load(group.sums), v.minimum * d, sums[o][i]);
        }
      }
    }
  }
  STRATA_EACH(o, kW)
  STRATA_EACH(i, kX) {
    float s[8];
    L::store(s, sums[o][i]);
    for (int half = 4; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) s[l] += s[l + half];
    y[i * y_step + o] = s[0];
  }
}

template <class L, BlockKind kKind>
void dot(const Row* x, int rows, Bytes w, std::int64_t row_bytes, std::int64_t blocks,
         std::int64_t out, float* y, std::int64_t y_step) {
  constexpr int kTogether = kBlockLayouts[static_cast<int>(kKind)].elements == 32 ? 4 : 2;
  for (; rows >= kMostRows; rows -= kMostRows, x += kMostRows, y += kMostRows * y_step)
    for (std::int64_t o = 0; o < out; ++o)
      dot_rows<L, kKind, kMostRows, 1>(x, w + o * row_bytes, row_bytes, blocks, y + o, y_step);
  for (; rows > 0; --rows, ++x, y += y_step) {
    std::int64_t o = 0;
    for (; o + kTogether <= out; o += kTogether)
      dot_rows<L, kKind, 1, kTogether>(x, w + o * row_bytes, row_bytes, blocks, y + o, y_step);
    for (; o < out; ++o)
      dot_rows<L, kKind, 1, 1>(x, w + o * row_bytes, row_bytes, blocks, y + o, y_step);
  }
}

template <class L>
struct Formats {
  using Dot = void (*)(const Row*, int, Bytes, std::int64_t, std::int64_t, std::int64_t, float*,
                       std::int64_t);
  template <std::size_t... i>
  static constexpr std::array<Dot, sizeof...(i)> make(std::index_sequence<i...>) {
    return {dot<L, static_cast<BlockKind>(i)>...};
  }
  static constexpr auto all =
      make(std::make_index_sequence<static_cast<std::size_t>(BlockKind::mxfp4) + 1>());
};

}  // namespace
}  // namespace strata::loop::block8
