// Levels of packed blocks as bytes, 32 at a time, and their sums for block_int8.h, for one
// instruction set: L gives
//
//   B, 32 signed bytes with + - and & | of B; I, eight i32; F, eight f32; all(byte), bytes(at),
//   pair(at): 16 bytes twice, halves(low, high): the first half of one and the second of the other,
//   right(B, bits): each byte shifted as a number without a sign, lookup(table, B) of four bits,
//   bits(word): byte i holds bit i; dot(level, n): I of sums of four products, dot_natural of
//   levels that are not negative; sum_halves(I[8], first, second): lane o of F has the sum of the
//   first and of the last four lanes of the o-th, sum_all(I[8]) of all; number(x), load, store,
//   fma; half(at): an f16.
//
// Included by block_int8_avx2.cc and its neighbours, each compiled for its own instructions.
#pragma once

#include <array>
#include <utility>

#include "strata/loop/kernel/block/block_int8.h"
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

/// 32 levels and what makes numbers of each half of them.
template <class L>
struct Levels {
  typename L::B levels;
  float scale[2], minimum[2];
};

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
  auto by = [](float scale, B levels) { return Levels<L>{levels, {scale, scale}, {0, 0}}; };
  auto with = [](float scale, float minimum, B levels) {
    return Levels<L>{levels, {scale, scale}, {minimum, minimum}};
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
            {d * static_cast<float>(s & 15), d * static_cast<float>(t & 15)},
            {-(dmin * static_cast<float>(s >> 4)), -(dmin * static_cast<float>(t >> 4))}};
  } else if constexpr (kKind == BlockKind::q3_k) {
    const Bytes s = b + 96;
    const float d = L::half(b + 108);
    auto scale = [&](int k) {
      const int low = k < 8 ? s[k] & 15 : s[k - 8] >> 4;
      return d * static_cast<float>((low | (s[8 + k % 4] >> 2 * (k / 4) & 3) << 4) - 32);
    };
    const B low = L::right(L::bytes(b + 32 + 32 * (j / 4)), 2 * (j % 4)) & L::all(3);
    const B high = L::right(L::bytes(b), j) & L::all(1);
    return {low + L::left(high, 2) - L::all(4), {scale(2 * j), scale(2 * j + 1)}, {0, 0}};
  } else {
    static_assert(kKind == BlockKind::q6_k);
    const int h = j / 4, g = j % 4;
    const float d = L::half(b + 208);
    auto scale = [&](int k) {
      return d * static_cast<float>(static_cast<std::int8_t>(b[192 + k]));
    };
    const B low = nibbles_of<L>(b + 64 * h + 32 * (g & 1), g >= 2);
    const B high = L::right(L::bytes(b + 128 + 32 * h), 2 * g) & L::all(3);
    return {(low | L::left(high, 4)) - L::all(32), {scale(2 * j), scale(2 * j + 1)}, {0, 0}};
  }
}

/// Eight rows of w by a few rows of x.
template <class L, BlockKind kKind, int kX>
void dot_rows(const Operands& p, const Bytes* w, const Group* x, float (*y)[8]) {
  using F = typename L::F;
  constexpr BlockLayout kLayout = kBlockLayouts[static_cast<int>(kKind)];
  constexpr int kGroups = kLayout.elements / 32, kParts = has_halves(kKind) ? 2 : 1;
  F sums[kX];
  STRATA_EACH(i, kX) sums[i] = L::number(0);
  for (std::int64_t n = 0; n < p.blocks; ++n) {
    for (int j = 0; j < kGroups; ++j) {
      typename L::B levels[8];
      float scales[2][8], minima[2][8];
      STRATA_EACH(o, 8) {
        const Levels<L> v = levels_of<L, kKind>(w[o] + n * kLayout.bytes, j);
        levels[o] = v.levels;
        STRATA_EACH(part, kParts) {
          scales[part][o] = v.scale[part];
          minima[part][o] = v.minimum[part];
        }
      }
      STRATA_EACH(i, kX) {
        const Group& group = x[i * p.groups + n * kGroups + j];
        typename L::I products[8];
        STRATA_EACH(o, 8)
        products[o] =
            has_minimum(kKind) ? L::dot_natural(levels[o], group.n) : L::dot(levels[o], group.n);
        F totals[2];
        if constexpr (kParts == 2)
          L::sum_halves(products, totals);
        else
          totals[0] = L::sum_all(products);
        STRATA_EACH(part, kParts) {
          sums[i] = L::fma(totals[part], L::load(scales[part]) * L::number(group.scale), sums[i]);
          if constexpr (has_minimum(kKind))
            sums[i] = L::fma(L::load(minima[part]),
                             L::number(kParts == 2 ? group.halves[part] : group.sum), sums[i]);
        }
      }
    }
  }
  STRATA_EACH(i, kX) L::store(y[i], sums[i]);
}

/// Rows of w behind the last one are the last one again.
template <class L, BlockKind kKind>
void dot(const Operands& p, std::uint8_t*) {
  constexpr int kX = 2;
  for (std::int64_t o = 0; o < p.out; o += 8) {
    Bytes w[8];
    const std::int64_t there = p.out - o < 8 ? p.out - o : 8;
    for (std::int64_t r = 0; r < 8; ++r)
      w[r] = p.w + (o + (r < there ? r : there - 1)) * p.row_bytes;
    for (std::int64_t i = 0; i < p.rows;) {
      float y[kX][8];
      const std::int64_t rows = p.rows - i < kX ? 1 : kX;
      if (rows == kX)
        dot_rows<L, kKind, kX>(p, w, p.x + i * p.groups, y);
      else
        dot_rows<L, kKind, 1>(p, w, p.x + i * p.groups, y);
      for (std::int64_t k = 0; k < rows; ++k, ++i)
        for (std::int64_t r = 0; r < there; ++r) p.y[i * p.y_step + o + r] = y[k][r];
    }
  }
}

template <class L>
struct Formats {
  using Dot = void (*)(const Operands&, std::uint8_t*);
  template <std::size_t... i>
  static constexpr std::array<Dot, sizeof...(i)> make(std::index_sequence<i...>) {
    return {dot<L, static_cast<BlockKind>(i)>...};
  }
  static constexpr auto all =
      make(std::make_index_sequence<static_cast<std::size_t>(BlockKind::mxfp4) + 1>());
};

}  // namespace
}  // namespace strata::loop::block8
