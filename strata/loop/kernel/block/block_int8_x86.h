// What block_levels.h asks of vectors of 32 bytes, but for the product.
#pragma once

#include <immintrin.h>

#include "strata/loop/kernel/block/block_levels.h"

namespace strata::loop::block8 {
namespace {

struct Bytes32 {
  struct B {
    __m256i v;
    STRATA_INLINE friend B operator+(B a, B b) { return {_mm256_add_epi8(a.v, b.v)}; }
    STRATA_INLINE friend B operator-(B a, B b) { return {_mm256_sub_epi8(a.v, b.v)}; }
    STRATA_INLINE friend B operator&(B a, B b) { return {_mm256_and_si256(a.v, b.v)}; }
    STRATA_INLINE friend B operator|(B a, B b) { return {_mm256_or_si256(a.v, b.v)}; }
  };
  typedef float F __attribute__((vector_size(32)));
  STRATA_INLINE static B all(int x) { return {_mm256_set1_epi8(static_cast<char>(x))}; }
  STRATA_INLINE static B bytes(const void* at) {
    return {_mm256_loadu_si256(static_cast<const __m256i*>(at))};
  }
  STRATA_INLINE static B pair(Bytes at) {
    return {_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)))};
  }
  STRATA_INLINE static B halves(B low, B high) { return {_mm256_blend_epi32(low.v, high.v, 0xf0)}; }
  STRATA_INLINE static B right(B x, int bits) {
    return {_mm256_and_si256(_mm256_srli_epi16(x.v, bits),
                             _mm256_set1_epi8(static_cast<char>(0xff >> bits)))};
  }
  /// Of bytes that have room for it.
  STRATA_INLINE static B left(B x, int bits) { return {_mm256_slli_epi16(x.v, bits)}; }
  STRATA_INLINE static B lookup(const std::int8_t* table, B i) {
    return {_mm256_shuffle_epi8(pair(reinterpret_cast<Bytes>(table)).v, i.v)};
  }
  /// Byte i is all ones where bit i is set.
  STRATA_INLINE static B bits(std::uint32_t word) {
    const __m256i which = _mm256_setr_epi64x(0x0000000000000000, 0x0101010101010101,
                                             0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
    const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(word)), which);
    return {_mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit)};
  }
  STRATA_INLINE static F number(float x) { return F(_mm256_set1_ps(x)); }
  STRATA_INLINE static F load(const float* at) { return F(_mm256_loadu_ps(at)); }
  STRATA_INLINE static void store(float* at, F x) { _mm256_storeu_ps(at, x); }
  STRATA_INLINE static F fma(F a, F b, F c) { return F(_mm256_fmadd_ps(a, b, c)); }
  struct I {
    __m256i v;
  };
  /// Lane o: sums of the o-th's four lanes; of its first four in `low`, of the others in `high`.
  STRATA_INLINE static void add_four(const I* x, __m256i& low, __m256i& high) {
    const auto four = [&](int o) {
      return _mm256_hadd_epi32(_mm256_hadd_epi32(x[o].v, x[o + 1].v),
                               _mm256_hadd_epi32(x[o + 2].v, x[o + 3].v));
    };
    const __m256i a = four(0), b = four(4);
    low = _mm256_permute2x128_si256(a, b, 0x20), high = _mm256_permute2x128_si256(a, b, 0x31);
  }
  STRATA_INLINE static void sum_halves(const I* x, F* out) {
    __m256i low, high;
    add_four(x, low, high);
    out[0] = F(_mm256_cvtepi32_ps(low)), out[1] = F(_mm256_cvtepi32_ps(high));
  }
  STRATA_INLINE static F sum_all(const I* x) {
    __m256i low, high;
    add_four(x, low, high);
    return F(_mm256_cvtepi32_ps(_mm256_add_epi32(low, high)));
  }
  STRATA_INLINE static float half(Bytes at) {
    std::uint16_t bits;
    __builtin_memcpy(&bits, at, sizeof bits);
    return _cvtsh_ss(bits);
  }
};

/// Integers of 32 f32, and the scale that they were divided by.
inline void round_groups(const float* x, std::int64_t count, Group* groups) {
  const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  for (std::int64_t g = 0; g < count; ++g, x += 32) {
    // Magnitudes compare as the integers of their bits, and NaN is the largest.
    __m256i most = _mm256_setzero_si256();
    for (int v = 0; v < 4; ++v)
      most = _mm256_max_epu32(
          most, _mm256_castps_si256(_mm256_and_ps(magnitude, _mm256_loadu_ps(x + 8 * v))));
    __m128i m = _mm_max_epu32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1));
    Group& group = groups[g];
    group.scale = _mm_cvtss_f32(_mm_castsi128_ps(m)) / 127.0f;
    const __m256 inverse = _mm256_set1_ps(group.scale != 0 ? 1.0f / group.scale : 0.0f);
    __m256i n[4];
    for (int v = 0; v < 4; ++v)
      n[v] =
          _mm256_max_epi32(_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8 * v), inverse)),
                           _mm256_set1_epi32(-127));  // of what is no number
    // Sums of the first and of the last sixteen.
    const __m256i a = _mm256_add_epi32(n[0], n[1]), b = _mm256_add_epi32(n[2], n[3]);
    __m256i s = _mm256_hadd_epi32(a, b);
    s = _mm256_hadd_epi32(s, s);
    const __m128i both = _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
    const __m256i packed =
        _mm256_packs_epi16(_mm256_packs_epi32(n[0], n[1]), _mm256_packs_epi32(n[2], n[3]));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(group.n),
        _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    group.totals[0] = _mm_cvtsi128_si32(both), group.totals[1] = _mm_extract_epi32(both, 1);
    group.total = group.totals[0] + group.totals[1];
    group.halves[0] = group.scale * static_cast<float>(group.totals[0]);
    group.halves[1] = group.scale * static_cast<float>(group.totals[1]);
    group.sum = group.scale * static_cast<float>(group.total);
  }
}

}  // namespace
}  // namespace strata::loop::block8
