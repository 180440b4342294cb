// fft with vectors of sixteen f32 or eight f64.
#include <immintrin.h>

#include <cstdint>
#include <memory>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx2,fma")
#endif

#include "strata/loop/kernel/fft/fft_transform.h"

namespace strata::loop::fft {
namespace {

/// A mask of the first `count` of so many lanes.
STRATA_LANES unsigned first_lanes(std::int64_t count, int lanes) {
  return (1u << (count < 0 ? 0 : count < lanes ? count : lanes)) - 1;
}

struct Eight {
  static constexpr int kWidth = 8;
  using N = double;
  using F = __m512d;
  STRATA_LANES static F all(double x) { return _mm512_set1_pd(x); }
  STRATA_LANES static F fma(F a, F b, F c) { return _mm512_fmadd_pd(a, b, c); }
  STRATA_LANES static F load(const double* at) { return _mm512_loadu_pd(at); }
  STRATA_LANES static void store(double* at, F x) { _mm512_storeu_pd(at, x); }
  STRATA_LANES static F load_first(const double* at, std::int64_t count) {
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>(first_lanes(count, 8)), at);
  }
  STRATA_LANES static void store_first(double* at, std::int64_t count, F x) {
    _mm512_mask_storeu_pd(at, static_cast<__mmask8>(first_lanes(count, 8)), x);
  }
  STRATA_LANES static void stream(double* at, F x) { _mm512_stream_pd(at, x); }
  STRATA_LANES static void streamed() { _mm_sfence(); }
  STRATA_LANES static F reversed(F x) {
    return _mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), x);
  }
  /// Pairs of numbers, of pairs, of quarters change places.
  STRATA_LANES static void transpose(F* x) {
    F a[8], b[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2)
      a[i] = _mm512_unpacklo_pd(x[i], x[i + 1]), a[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      int at = i / 2 * 4 + i % 2;
      b[at] = _mm512_shuffle_f64x2(a[at], a[at + 2], 0b10'00'10'00);
      b[at + 2] = _mm512_shuffle_f64x2(a[at], a[at + 2], 0b11'01'11'01);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm512_shuffle_f64x2(b[i], b[i + 4], 0b10'00'10'00);
      x[i + 4] = _mm512_shuffle_f64x2(b[i], b[i + 4], 0b11'01'11'01);
    }
  }
  STRATA_LANES static void transpose_pairs(F* x) {
    const F a = _mm512_shuffle_f64x2(x[0], x[1], 0b10'00'10'00),
            b = _mm512_shuffle_f64x2(x[0], x[1], 0b11'01'11'01);
    const F c = _mm512_shuffle_f64x2(x[2], x[3], 0b10'00'10'00),
            d = _mm512_shuffle_f64x2(x[2], x[3], 0b11'01'11'01);
    x[0] = _mm512_shuffle_f64x2(a, c, 0b10'00'10'00),
    x[1] = _mm512_shuffle_f64x2(b, d, 0b10'00'10'00);
    x[2] = _mm512_shuffle_f64x2(a, c, 0b11'01'11'01),
    x[3] = _mm512_shuffle_f64x2(b, d, 0b11'01'11'01);
  }
  STRATA_LANES static void parted(F low, F high, F& re, F& im) {
    re = _mm512_permutex2var_pd(low, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), high);
    im = _mm512_permutex2var_pd(low, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), high);
  }
  STRATA_LANES static void joined(F re, F im, F& low, F& high) {
    low = _mm512_permutex2var_pd(re, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), im);
    high = _mm512_permutex2var_pd(re, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), im);
  }
};

struct Sixteen {
  static constexpr int kWidth = 16;
  using N = float;
  using F = __m512;
  STRATA_LANES static F all(float x) { return _mm512_set1_ps(x); }
  STRATA_LANES static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  STRATA_LANES static F load(const float* at) { return _mm512_loadu_ps(at); }
  STRATA_LANES static void store(float* at, F x) { _mm512_storeu_ps(at, x); }
  STRATA_LANES static F load_first(const float* at, std::int64_t count) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>(first_lanes(count, 16)), at);
  }
  STRATA_LANES static void store_first(float* at, std::int64_t count, F x) {
    _mm512_mask_storeu_ps(at, static_cast<__mmask16>(first_lanes(count, 16)), x);
  }
  STRATA_LANES static void stream(float* at, F x) { _mm512_stream_ps(at, x); }
  STRATA_LANES static void streamed() { _mm_sfence(); }
  STRATA_LANES static F reversed(F x) {
    return _mm512_permutexvar_ps(
        _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), x);
  }
  /// Pairs of numbers, of pairs, of quarters, of halves change places.
  STRATA_LANES static void transpose(F* x) {
    F a[16], b[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2)
      a[i] = _mm512_unpacklo_ps(x[i], x[i + 1]), a[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        const __m512d low = _mm512_castps_pd(a[i + j]), high = _mm512_castps_pd(a[i + 2 + j]);
        b[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high)),
                  b[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
      }
#pragma GCC unroll 2
    for (int i = 0; i < 16; i += 8)
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        a[i + j] = _mm512_shuffle_f32x4(b[i + j], b[i + 4 + j], 0b10'00'10'00);
        a[i + 4 + j] = _mm512_shuffle_f32x4(b[i + j], b[i + 4 + j], 0b11'01'11'01);
      }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      x[i] = _mm512_shuffle_f32x4(a[i], a[8 + i], 0b10'00'10'00);
      x[8 + i] = _mm512_shuffle_f32x4(a[i], a[8 + i], 0b11'01'11'01);
    }
  }
  STRATA_LANES static void transpose_pairs(F* x) {
    __m512d pairs[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) pairs[i] = _mm512_castps_pd(x[i]);
    Eight::transpose(pairs);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) x[i] = _mm512_castpd_ps(pairs[i]);
  }
  STRATA_LANES static void parted(F low, F high, F& re, F& im) {
    re = _mm512_permutex2var_ps(
        low, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), high);
    im = _mm512_permutex2var_ps(
        low, _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), high);
  }
  STRATA_LANES static void joined(F re, F im, F& low, F& high) {
    low = _mm512_permutex2var_ps(
        re, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), im);
    high = _mm512_permutex2var_ps(
        re, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), im);
  }
};

}  // namespace

const InstructionSet kAvx512{
    "avx512",
    [] { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); },
    transforms_by<Sixteen>, transforms_by<Eight>, run_planes<Eight>};

}  // namespace strata::loop::fft

#ifdef __clang__
#pragma clang attribute pop
#endif
