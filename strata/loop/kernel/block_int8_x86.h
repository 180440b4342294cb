// What block_levels.h asks of vectors of 32 bytes, but for the product.
#pragma once

#include <immintrin.h>

#include "strata/loop/kernel/block_levels.h"

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
  STRATA_INLINE static F both(float a, float b) {
    return F(_mm256_set_m128(_mm_set1_ps(b), _mm_set1_ps(a)));
  }
  STRATA_INLINE static F load(const float* at) { return F(_mm256_loadu_ps(at)); }
  STRATA_INLINE static void store(float* at, F x) { _mm256_storeu_ps(at, x); }
  STRATA_INLINE static F fma(F a, F b, F c) { return F(_mm256_fmadd_ps(a, b, c)); }
  STRATA_INLINE static float half(Bytes at) {
    std::uint16_t bits;
    __builtin_memcpy(&bits, at, sizeof bits);
    return _cvtsh_ss(bits);
  }
};

}  // namespace
}  // namespace strata::loop::block8
