// block_int8.h by vpdpbusd of 64 bytes: lane o of a vector is row o of sixteen rows of w.
//
// Levels are taken as they are in a block, without signs: level + offset, where the offset's part,
// offset * (sum of n), is subtracted from the sum. Bytes of sixteen rows are transposed in
// registers, so that vector c holds elements 4 c ... 4 c + 3 of all rows. For one row of x that
// happens on the way; for more it is written down once and read for every few of them.
#include <immintrin.h>

#include <cstdint>
#include <iterator>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/block/block_int8.h"
#include "strata/type/block_encode.h"

#ifdef __clang__
#pragma clang attribute push(                                                      \
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512vnni,avx2,fma,f16c"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512vnni,avx2,fma,f16c")
#endif

#include "strata/loop/kernel/block/block_int8_x86.h"

namespace strata::loop::block8 {
namespace {

using V = __m512i;
using F = __m512;

/// For the scales of formats that are not taken apart sixteen at a time.
struct Vnni : Bytes32 {};

/// The logarithm of what is added to levels, so that they have no sign; -1: nothing.
constexpr int offset_bits(BlockKind k) {
  switch (k) {
    case BlockKind::q4_0: return 3;
    case BlockKind::q5_0: return 4;
    case BlockKind::q8_0:
    case BlockKind::iq4_nl:
    case BlockKind::iq4_xs: return 7;
    case BlockKind::mxfp4: return 4;
    case BlockKind::q3_k: return 2;
    case BlockKind::q6_k: return 5;
    default: return -1;
  }
}

/// Sixteen rows of w: a place in the first one, and how far it is to the others.
struct Rows {
  Bytes at;
  const std::int64_t* to;
  STRATA_INLINE Rows operator+(std::int64_t bytes) const { return {at + bytes, to}; }
  STRATA_INLINE __m128i bytes(int row) const {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + to[row]));
  }
  STRATA_INLINE std::uint32_t word(int row) const {
    std::uint32_t out;
    __builtin_memcpy(&out, at + to[row], sizeof out);
    return out;
  }
};

/// Sixteen bytes of rows e, 4 + e, 8 + e, 12 + e.
STRATA_INLINE V four(const Rows& w, int e) {
  V v = _mm512_castsi128_si512(w.bytes(e));
  v = _mm512_inserti32x4(v, w.bytes(4 + e), 1);
  v = _mm512_inserti32x4(v, w.bytes(8 + e), 2);
  return _mm512_inserti32x4(v, w.bytes(12 + e), 3);
}
/// Four bytes of each row.
STRATA_INLINE V words(const Rows& w) {
  __m128i part[4];
  STRATA_EACH(i, 4)
  part[i] =
      _mm_setr_epi32(static_cast<int>(w.word(4 * i)), static_cast<int>(w.word(4 * i + 1)),
                     static_cast<int>(w.word(4 * i + 2)), static_cast<int>(w.word(4 * i + 3)));
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(part[0]), part[1], 1);
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(part[2]), part[3], 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/// The f16 in the low and in the high halves of words.
STRATA_INLINE F low_half(V v) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)); }
STRATA_INLINE F high_half(V v) { return low_half(_mm512_srli_epi32(v, 16)); }

STRATA_INLINE V all(int x) { return _mm512_set1_epi8(static_cast<char>(x)); }
/// Each byte shifted, and the bits of `mask`.
STRATA_INLINE V bits_of(V v, int shift, int mask) {
  return _mm512_and_si512(_mm512_srl_epi16(v, _mm_cvtsi32_si128(shift)), all(mask));
}
/// Of bytes that have room for it.
STRATA_INLINE V left(V v, int bits) { return _mm512_slli_epi16(v, static_cast<unsigned>(bits)); }

/// The levels of 16 values, and what is added to them.
struct Table {
  alignas(16) std::uint8_t at[16];
};
constexpr Table table_of(const std::int8_t* values, int offset) {
  Table out{};
  for (int i = 0; i < 16; ++i) out.at[i] = static_cast<std::uint8_t>(values[i] + offset);
  return out;
}
constexpr Table kIq4 = table_of(kIq4Values, 128), kMxfp4 = table_of(kMxfp4Values, 16);
STRATA_INLINE V lookup(const Table& table, V i) {
  return _mm512_shuffle_epi8(
      _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(table.at))), i);
}

/// Sixteen bits of rows e, 4 + e, 8 + e, 12 + e, from `shift` on.
STRATA_INLINE std::uint64_t bits_of_rows(const Rows& w, int e, int shift) {
  std::uint64_t out = 0;
  STRATA_EACH(i, 4)
  out |= static_cast<std::uint64_t>(w.word(4 * i + e) >> shift & 0xffff) << 16 * i;
  return out;
}

/// Elements 0 ... 15 of group j of rows e, 4 + e, ..., and elements 16 ... 31.
template <BlockKind kKind>
STRATA_INLINE void levels_at(const Rows& w, int j, int e, V& low, V& high) {
  using enum BlockKind;
  // Shifted parts of the group's 32 bytes at `from`.
  const auto parts = [&](int from, int shift, int mask) {
    low = bits_of(four(w + from, e), shift, mask);
    high = bits_of(four(w + (from + 16), e), shift, mask);
  };
  const auto add_parts = [&](int from, int shift, int mask, int bits) {
    low = _mm512_or_si512(low, left(bits_of(four(w + from, e), shift, mask), bits));
    high = _mm512_or_si512(high, left(bits_of(four(w + (from + 16), e), shift, mask), bits));
  };
  if constexpr (kKind == q8_0) {
    low = _mm512_xor_si512(four(w + 2, e), all(0x80));
    high = _mm512_xor_si512(four(w + 18, e), all(0x80));
  } else if constexpr (kKind == q4_k || kKind == q5_k) {
    parts((kKind == q5_k ? 48 : 16) + 32 * (j / 2), 4 * (j % 2), 15);
    if constexpr (kKind == q5_k) add_parts(16, j, 1, 4);
  } else if constexpr (kKind == q2_k) {
    parts(16 + 32 * (j / 4), 2 * (j % 4), 3);
  } else if constexpr (kKind == q3_k) {
    parts(32 + 32 * (j / 4), 2 * (j % 4), 3);
    add_parts(0, j, 1, 2);
  } else if constexpr (kKind == q6_k) {
    const int h = j / 4, g = j % 4;
    parts(64 * h + 32 * (g & 1), g < 2 ? 0 : 4, 15);
    add_parts(128 + 32 * h, 2 * g, 3, 4);
  } else {
    constexpr int kFrom = kKind == q4_1     ? 4
                          : kKind == q5_0   ? 6
                          : kKind == q5_1   ? 8
                          : kKind == iq4_xs ? 8
                          : kKind == mxfp4  ? 1
                                            : 2;
    const V q = four(w + (kFrom + 16 * j), e);
    low = _mm512_and_si512(q, all(15)), high = bits_of(q, 4, 15);
    if constexpr (kKind == q5_0 || kKind == q5_1) {
      const Rows fifth = w + (kFrom - 4);
      low = _mm512_or_si512(low, _mm512_maskz_set1_epi8(bits_of_rows(fifth, e, 0), 16));
      high = _mm512_or_si512(high, _mm512_maskz_set1_epi8(bits_of_rows(fifth, e, 16), 16));
    }
    if constexpr (kKind == iq4_nl || kKind == iq4_xs)
      low = lookup(kIq4, low), high = lookup(kIq4, high);
    if constexpr (kKind == mxfp4) low = lookup(kMxfp4, low), high = lookup(kMxfp4, high);
  }
}

/// Element c of each quarter of four vectors goes to vector c.
STRATA_INLINE void transpose(const V* from, V* to) {
  const V a = _mm512_unpacklo_epi32(from[0], from[1]), b = _mm512_unpacklo_epi32(from[2], from[3]);
  const V c = _mm512_unpackhi_epi32(from[0], from[1]), d = _mm512_unpackhi_epi32(from[2], from[3]);
  to[0] = _mm512_unpacklo_epi64(a, b), to[1] = _mm512_unpackhi_epi64(a, b);
  to[2] = _mm512_unpacklo_epi64(c, d), to[3] = _mm512_unpackhi_epi64(c, d);
}

/// A group of sixteen rows: vector c has elements 4 c ... 4 c + 3 of row o in lane o.
struct Sixteen {
  V levels[8];
  F scale[2], minimum[2];
};

template <BlockKind kKind>
STRATA_INLINE void scales_at(const Rows& w, int j, Sixteen& out) {
  using enum BlockKind;
  if constexpr (kKind == q4_0 || kKind == q5_0 || kKind == q8_0 || kKind == iq4_nl) {
    out.scale[0] = low_half(words(w));
  } else if constexpr (kKind == q4_1 || kKind == q5_1) {
    const V v = words(w);
    out.scale[0] = low_half(v), out.minimum[0] = high_half(v);
  } else if constexpr (kKind == q4_k || kKind == q5_k) {
    // As packed_block::scale_of and min_of.
    const V d = words(w), s = words(w + 4), m = words(w + 8), both = words(w + 12);
    const __m128i shift = _mm_cvtsi32_si128(8 * (j % 4)), high = _mm_cvtsi32_si128(8 * (j % 4) + 6),
                  upper = _mm_cvtsi32_si128(8 * (j % 4) + 4);
    const auto masked = [](V v, const __m128i& by, int mask) {
      return _mm512_and_si512(_mm512_srl_epi32(v, by), _mm512_set1_epi32(mask));
    };
    V scale, minimum;
    if (j < 4) {
      scale = masked(s, shift, 63), minimum = masked(m, shift, 63);
    } else {
      scale = _mm512_or_si512(masked(both, shift, 15), _mm512_slli_epi32(masked(s, high, 3), 4));
      minimum = _mm512_or_si512(masked(both, upper, 15), _mm512_slli_epi32(masked(m, high, 3), 4));
    }
    out.scale[0] = _mm512_mul_ps(low_half(d), _mm512_cvtepi32_ps(scale));
    const F product = _mm512_mul_ps(high_half(d), _mm512_cvtepi32_ps(minimum));
    out.minimum[0] = _mm512_castsi512_ps(
        _mm512_xor_si512(_mm512_castps_si512(product), _mm512_set1_epi32(INT32_MIN)));
  } else if constexpr (kKind == q6_k) {
    const F d = high_half(words(w + 206));
    const V s = words(w + (192 + 2 * j));
    const auto byte = [](V v, unsigned up) {
      return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(v, up), 24));
    };
    out.scale[0] = _mm512_mul_ps(d, byte(s, 24)), out.scale[1] = _mm512_mul_ps(d, byte(s, 16));
  } else {
    alignas(64) float scale[2][16], minimum[2][16];
    for (int r = 0; r < 16; ++r) {
      const Levels<Vnni> v = levels_of<Vnni, kKind>(w.at + w.to[r], j);
      for (int p = 0; p < 2; ++p) scale[p][r] = v.scale[p], minimum[p][r] = v.minimum[p];
    }
    for (int p = 0; p < 2; ++p)
      out.scale[p] = _mm512_load_ps(scale[p]), out.minimum[p] = _mm512_load_ps(minimum[p]);
  }
}

template <BlockKind kKind>
STRATA_INLINE void read(const Rows& w, int j, Sixteen& out) {
  V low[4], high[4];
  STRATA_EACH(e, 4) levels_at<kKind>(w, j, e, low[e], high[e]);
  transpose(low, out.levels), transpose(high, out.levels + 4);
  scales_at<kKind>(w, j, out);
}

/// What a format's sums are made of.
template <bool halves, bool minima, int bits>
struct Kind {
  static constexpr int kParts = halves ? 2 : 1, kBits = bits;
  static constexpr bool kMinima = minima;
};
template <BlockKind k>
using KindOf = Kind<has_halves(k), has_minimum(k), offset_bits(k)>;

template <class K>
STRATA_INLINE F add_group(F sum, const Sixteen& w, const Group& x) {
  constexpr int kVectors = 8 / K::kParts;
  STRATA_EACH(p, K::kParts) {
    const int total = K::kParts == 2 ? x.totals[p] : x.total;
    V t = _mm512_setzero_si512();
    if constexpr (K::kBits >= 0)
      t = _mm512_sub_epi32(t, _mm512_slli_epi32(_mm512_set1_epi32(total), K::kBits));
    STRATA_EACH(c, kVectors) {
      int n;
      __builtin_memcpy(&n, x.n + 4 * (p * kVectors + c), sizeof n);
      t = _mm512_dpbusd_epi32(t, w.levels[p * kVectors + c], _mm512_set1_epi32(n));
    }
    sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(t), _mm512_mul_ps(w.scale[p], _mm512_set1_ps(x.scale)),
                          sum);
    if constexpr (K::kMinima)
      sum =
          _mm512_fmadd_ps(w.minimum[p], _mm512_set1_ps(K::kParts == 2 ? x.halves[p] : x.sum), sum);
  }
  return sum;
}

/// One row of x.
template <BlockKind kKind>
F one_row(const Rows& w, std::int64_t blocks, std::int64_t row_bytes, const Group* x) {
  constexpr BlockLayout kLayout = kBlockLayouts[static_cast<int>(kKind)];
  constexpr int kGroups = kLayout.elements / 32;
  F sum = _mm512_setzero_ps();
  for (std::int64_t n = 0; n < blocks; ++n) {
    // Of the rows that come next: no processor foresees the step from row to row.
    for (int line = 0; line < 16 * kLayout.bytes; line += 64)
      __builtin_prefetch(w.at + 16 * row_bytes + n * 16 * kLayout.bytes + line);
    for (int j = 0; j < kGroups; ++j, ++x) {
      Sixteen group;
      read<kKind>(w + n * kLayout.bytes, j, group);
      sum = add_group<KindOf<kKind>>(sum, group, *x);
    }
  }
  return sum;
}

/// A few rows of x by what `write_down` wrote.
template <class K, int kX>
void some_rows(const std::uint8_t* room, std::int64_t groups, const Group* x, F* out) {
  F sums[kX];
  STRATA_EACH(i, kX) sums[i] = _mm512_setzero_ps();
  for (std::int64_t g = 0; g < groups; ++g, room += room_bytes(1)) {
    Sixteen w;
    STRATA_EACH(c, 8) w.levels[c] = _mm512_load_si512(room + 64 * c);
    STRATA_EACH(p, K::kParts) {
      w.scale[p] = _mm512_load_ps(room + 512 + 64 * p);
      if constexpr (K::kMinima) w.minimum[p] = _mm512_load_ps(room + 640 + 64 * p);
    }
    STRATA_EACH(i, kX) sums[i] = add_group<K>(sums[i], w, x[i * groups + g]);
  }
  STRATA_EACH(i, kX) out[i] = sums[i];
}

template <BlockKind kKind>
void write_down(const Rows& w, std::int64_t blocks, std::uint8_t* room) {
  constexpr BlockLayout kLayout = kBlockLayouts[static_cast<int>(kKind)];
  using K = KindOf<kKind>;
  for (std::int64_t n = 0; n < blocks; ++n)
    for (int j = 0; j < kLayout.elements / 32; ++j, room += room_bytes(1)) {
      Sixteen group;
      read<kKind>(w + n * kLayout.bytes, j, group);
      STRATA_EACH(c, 8) _mm512_store_si512(room + 64 * c, group.levels[c]);
      STRATA_EACH(p, K::kParts) {
        _mm512_store_ps(room + 512 + 64 * p, group.scale[p]);
        if constexpr (K::kMinima) _mm512_store_ps(room + 640 + 64 * p, group.minimum[p]);
      }
    }
}

/// Rows of w behind the last one are the last one again.
template <BlockKind kKind>
void dot16(const Operands& p, std::uint8_t* room) {
  using K = KindOf<kKind>;
  constexpr int kMost = 8;
  for (std::int64_t o = 0; o < p.out; o += 16) {
    const std::int64_t there = p.out - o < 16 ? p.out - o : 16;
    std::int64_t to[16];
    for (std::int64_t r = 0; r < 16; ++r) to[r] = (r < there ? r : there - 1) * p.row_bytes;
    const Rows w{p.w + o * p.row_bytes, to};
    const auto mask = static_cast<__mmask16>((1u << there) - 1);
    if (p.rows == 1) {
      _mm512_mask_storeu_ps(p.y + o, mask, one_row<kKind>(w, p.blocks, p.row_bytes, p.x));
      continue;
    }
    write_down<kKind>(w, p.blocks, room);
    for (std::int64_t i = 0; i < p.rows;) {
      F y[kMost];
      const std::int64_t left = p.rows - i;
      const Group* x = p.x + i * p.groups;
      int rows = 1;
      if (left >= 8)
        some_rows<K, 8>(room, p.groups, x, y), rows = 8;
      else if (left >= 4)
        some_rows<K, 4>(room, p.groups, x, y), rows = 4;
      else if (left >= 2)
        some_rows<K, 2>(room, p.groups, x, y), rows = 2;
      else
        some_rows<K, 1>(room, p.groups, x, y);
      for (int k = 0; k < rows; ++k, ++i) _mm512_mask_storeu_ps(p.y + i * p.y_step + o, mask, y[k]);
    }
  }
}

template <std::size_t... i>
constexpr std::array<void (*)(const Operands&, std::uint8_t*), sizeof...(i)> dots(
    std::index_sequence<i...>) {
  return {dot16<static_cast<BlockKind>(i)>...};
}
constexpr auto kDots = dots(std::make_index_sequence<std::size(kBlockLayouts)>());

bool present() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("f16c");
}

}  // namespace

const InstructionSet kVnni{"vnni", present, round_groups, kDots.data()};

}  // namespace strata::loop::block8

#ifdef __clang__
#pragma clang attribute pop
#endif
