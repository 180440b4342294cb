// Numbers of packed blocks in registers, 32 at a time, for one instruction set: L gives
//
//   kWidth lanes, F (f32) and I (i32) vectors with + - * and >> & |,
//   all(x), load(floats), bytes(at) and signed_bytes(at) widened to I, number(I), bits(word,
//   shift): lane l holds bit l + shift of a word; Table (16 f32) with table(base, scale, minimum) =
//   base * scale - minimum and lookup(table, I), which sees four bits; half(at): an f16.
//
// Products that the formats round are exact but for the last one of an element, so that where a
// minimum is subtracted the order does not matter: the bits are those of type/block_format.cc.
//
// Included by block_dot_avx2.cc and its neighbours, each compiled for its own instructions.
#pragma once

#include "strata/loop/kernel/block/block_dot.h"
#include "strata/type/block_encode.h"

namespace strata::loop::block {
namespace {

#ifdef STRATA_SMALL_CODE
#define STRATA_EACH(i, count) for (int i = 0; i < count; ++i)
#define STRATA_INLINE inline
#else
#define STRATA_EACH(i, count) _Pragma("GCC unroll 32") for (int i = 0; i < count; ++i)
#define STRATA_INLINE __attribute__((always_inline)) inline
#endif

using Bytes = const std::uint8_t*;

/// The sixteen levels of a nibble, before the scale.
struct Levels {
  float at[16];
};
template <class V>
constexpr Levels levels(V&& value) {
  Levels out{};
  for (int i = 0; i < 16; ++i) out.at[i] = static_cast<float>(value(i));
  return out;
}
constexpr Levels kPlain = levels([](int i) { return i; });
constexpr Levels kCentred = levels([](int i) { return i - 8; });
constexpr Levels kIq4 = levels([](int i) { return kIq4Values[i]; });
constexpr Levels kMxfp4 = levels([](int i) { return kMxfp4Values[i]; });

/// 32 elements, the first 16 in low nibbles, the others in the high ones.
template <class L>
STRATA_INLINE void nibbles_by_halves(Bytes q, const typename L::Table& table, typename L::F* out) {
  constexpr int kHalf = 16 / L::kWidth;
  STRATA_EACH(v, kHalf) {
    const typename L::I q_v = L::bytes(q + v * L::kWidth);
    out[v] = L::lookup(table, q_v);
    out[v + kHalf] = L::lookup(table, q_v >> 4);
  }
}

/// A block whose numbers `group` gives, 32 of them; made once for each block.
template <class L, BlockKind kKind>
struct Block;

#define STRATA_BLOCK(kind) \
  template <class L>       \
  struct Block<L, BlockKind::kind>

#define STRATA_LANES       \
  using F = typename L::F; \
  using I = typename L::I; \
  static constexpr int kVectors = 32 / L::kWidth;

/// Formats of 32 elements in nibbles of 16 levels.
template <class L>
struct Nibbles {
  STRATA_LANES
  STRATA_INLINE Nibbles(Bytes q, const Levels& base, float scale, float minimum)
      : q(q), table(L::table(base.at, scale, minimum)) {}
  STRATA_INLINE void group(int, F* out) const { nibbles_by_halves<L>(q, table, out); }
  Bytes q;
  typename L::Table table;
};
STRATA_BLOCK(q4_0)
    : Nibbles<L>{
        STRATA_INLINE explicit Block(Bytes b) : Nibbles<L>(b + 2, kCentred, L::half(b), 0){}
      };
STRATA_BLOCK(q4_1)
    : Nibbles<L>{
        STRATA_INLINE explicit Block(Bytes b) :
            Nibbles<L>(b + 4, kPlain, L::half(b), -L::half(b + 2)){}
      };
STRATA_BLOCK(iq4_nl)
    : Nibbles<L>{STRATA_INLINE explicit Block(Bytes b) : Nibbles<L>(b + 2, kIq4, L::half(b), 0){}};
STRATA_BLOCK(mxfp4)
    : Nibbles<L>{STRATA_INLINE explicit Block(Bytes b) : Nibbles<L>(b + 1, kMxfp4, power(b[0]), 0){}
                 /// 2^(e - 128) as the bits of an f32; the first two are subnormal.
                 STRATA_INLINE static float power(std::uint32_t e){
                     const std::uint32_t bits = e < 2 ? 0x00200000u << e : (e - 1) << 23;
float out;
__builtin_memcpy(&out, &bits, sizeof out);
return out;
}  // namespace
};  // namespace strata::loop::block

/// Formats of 32 elements of five bits: the fifth ones in a word of their own.
template <class L, int kCentre>
struct FiveBits {
  STRATA_LANES
  STRATA_INLINE FiveBits(Bytes q, Bytes fifth, float scale, float minimum)
      : q(q), scale(scale), minimum(minimum) {
    __builtin_memcpy(&word, fifth, sizeof word);
  }
  STRATA_INLINE void group(int, F* out) const {
    constexpr int kHalf = kVectors / 2;
    STRATA_EACH(v, kHalf) {
      const I q_v = L::bytes(q + v * L::kWidth);
      out[v] = number(q_v & 15, v * L::kWidth);
      out[v + kHalf] = number(q_v >> 4, 16 + v * L::kWidth);
    }
  }
  STRATA_INLINE F number(I nibble, int at) const {
    const I level = (nibble | L::bits(word, at) << 4) - L::all_integers(kCentre);
    const F product = L::number(level) * L::all(scale);
    return kCentre == 0 ? product + L::all(minimum) : product;
  }
  Bytes q;
  float scale, minimum;
  std::uint32_t word;
};
STRATA_BLOCK(q5_0)
    : FiveBits<L, 16>{
        STRATA_INLINE explicit Block(Bytes b) : FiveBits<L, 16>(b + 6, b + 2, L::half(b), 0){}
      };
STRATA_BLOCK(q5_1)
    : FiveBits<L, 0>{
        STRATA_INLINE explicit Block(Bytes b) :
            FiveBits<L, 0>(b + 8, b + 4, L::half(b), L::half(b + 2)){}
      };

STRATA_BLOCK(q8_0) {
  STRATA_LANES
  STRATA_INLINE explicit Block(Bytes b) : q(b + 2), scale(L::half(b)) {}
  STRATA_INLINE void group(int, F* out) const {
    STRATA_EACH(v, kVectors) out[v] = L::number(L::signed_bytes(q + v * L::kWidth)) * L::all(scale);
  }
  Bytes q;
  float scale;
};

// ---- blocks of 256: group j has elements 32 j ... 32 j + 31 ------------------------------------

STRATA_BLOCK(q2_k) {
  STRATA_LANES
  STRATA_INLINE explicit Block(Bytes b) : b(b), d(L::half(b + 80)), dmin(L::half(b + 82)) {}
  STRATA_INLINE void group(int j, F* out) const {
    STRATA_EACH(v, kVectors) {
      const int l = v * L::kWidth, t = b[2 * j + l / 16];
      const I level = L::bytes(b + 16 + 32 * (j / 4) + l) >> 2 * (j % 4) & 3;
      out[v] = L::number(level) * L::all(d * static_cast<float>(t & 15)) -
               L::all(dmin * static_cast<float>(t >> 4));
    }
  }
  Bytes b;
  float d, dmin;
};

STRATA_BLOCK(q3_k) {
  STRATA_LANES
  STRATA_INLINE explicit Block(Bytes b) : b(b), d(L::half(b + 108)) {}
  STRATA_INLINE void group(int j, F* out) const {
    const Bytes s = b + 96;
    STRATA_EACH(v, kVectors) {
      const int l = v * L::kWidth, k = 2 * j + l / 16;
      const int scale = (k < 8 ? s[k] & 15 : s[k - 8] >> 4) | (s[8 + k % 4] >> 2 * (k / 4) & 3)
                                                                  << 4;
      const I low = L::bytes(b + 32 + 32 * (j / 4) + l) >> 2 * (j % 4) & 3;
      const I high = L::bytes(b + l) >> j & 1;
      out[v] = L::number(low + (high << 2) - L::all_integers(4)) *
               L::all(d * static_cast<float>(scale - 32));
    }
  }
  Bytes b;
  float d;
};

STRATA_BLOCK(q4_k) {
  STRATA_LANES
  STRATA_INLINE explicit Block(Bytes b) : b(b), d(L::half(b)), dmin(L::half(b + 2)) {}
  STRATA_INLINE void group(int j, F* out) const {
    const auto table =
        L::table(kPlain.at, d * static_cast<float>(strata::packed_block::scale_of(b + 4, j)),
                 dmin * static_cast<float>(strata::packed_block::min_of(b + 4, j)));
    STRATA_EACH(v, kVectors) {
      const I q = L::bytes(b + 16 + 32 * (j / 2) + v * L::kWidth);
      out[v] = L::lookup(table, j % 2 == 0 ? q : q >> 4);
    }
  }
  Bytes b;
  float d, dmin;
};

STRATA_BLOCK(q5_k) {
  STRATA_LANES
  STRATA_INLINE explicit Block(Bytes b) : b(b), d(L::half(b)), dmin(L::half(b + 2)) {}
  STRATA_INLINE void group(int j, F* out) const {
    const F scale = L::all(d * static_cast<float>(strata::packed_block::scale_of(b + 4, j)));
    const F minimum = L::all(dmin * static_cast<float>(strata::packed_block::min_of(b + 4, j)));
    STRATA_EACH(v, kVectors) {
      const int l = v * L::kWidth;
      const I q = L::bytes(b + 48 + 32 * (j / 2) + l), fifth = L::bytes(b + 16 + l) >> j & 1;
      out[v] = L::number((j % 2 == 0 ? q & 15 : q >> 4) | fifth << 4) * scale - minimum;
    }
  }
  Bytes b;
  float d, dmin;
};

STRATA_BLOCK(q6_k) {
  STRATA_LANES
  STRATA_INLINE explicit Block(Bytes b) : b(b), d(L::half(b + 208)) {}
  STRATA_INLINE void group(int j, F* out) const {
    const int h = j / 4, g = j % 4;
    STRATA_EACH(v, kVectors) {
      const int l = v * L::kWidth;
      const I q = L::bytes(b + 64 * h + l + 32 * (g & 1));
      const I high = L::bytes(b + 128 + 32 * h + l) >> 2 * g & 3;
      const auto scale = static_cast<std::int8_t>(b[192 + 2 * j + l / 16]);
      out[v] = L::number(((g < 2 ? q & 15 : q >> 4) | high << 4) - L::all_integers(32)) *
               L::all(d * static_cast<float>(scale));
    }
  }
  Bytes b;
  float d;
};

STRATA_BLOCK(iq4_xs) {
  STRATA_LANES
  STRATA_INLINE explicit Block(Bytes b) : b(b), d(L::half(b)), high(b[2] | b[3] << 8) {}
  STRATA_INLINE void group(int j, F* out) const {
    const int scale = (b[4 + j / 2] >> 4 * (j & 1) & 15) | (high >> 2 * j & 3) << 4;
    nibbles_by_halves<L>(b + 8 + 16 * j, L::table(kIq4.at, d * static_cast<float>(scale - 32), 0),
                         out);
  }
  Bytes b;
  float d;
  int high;
};

}  // namespace
}  // namespace strata::loop::block
