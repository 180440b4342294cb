// fft with vectors of eight f32 or four f64. Some of a vector are stored in halves: AMD's
// processors take 20 cycles for one under a mask.
#include <immintrin.h>

#include <cstdint>
#include <memory>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

#include "strata/loop/kernel/fft/fft_transform.h"

namespace strata::loop::fft {
namespace {

struct Four {
  static constexpr int kWidth = 4;
  using N = double;
  using F = __m256d;
  STRATA_LANES static F all(double x) { return _mm256_set1_pd(x); }
  STRATA_LANES static F fma(F a, F b, F c) { return _mm256_fmadd_pd(a, b, c); }
  STRATA_LANES static F load(const double* at) { return _mm256_loadu_pd(at); }
  STRATA_LANES static void store(double* at, F x) { _mm256_storeu_pd(at, x); }
  STRATA_LANES static __m256i first_lanes(std::int64_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  STRATA_LANES static F load_first(const double* at, std::int64_t count) {
    return _mm256_maskload_pd(at, first_lanes(count));
  }
  STRATA_LANES static void store_first(double* at, std::int64_t count, F x) {
    count >= kWidth ? store(at, x) : store_few(at, count, x);
  }
  [[gnu::noinline]] static void store_few(double* at, std::int64_t count, F x) {
    __m128d some = _mm256_castpd256_pd128(x);
    if (count >= 2)
      _mm_storeu_pd(at, some), some = _mm256_extractf128_pd(x, 1), at += 2, count -= 2;
    if (count >= 1) _mm_store_sd(at, some);
  }
  STRATA_LANES static void stream(double* at, F x) { _mm256_stream_pd(at, x); }
  STRATA_LANES static void streamed() { _mm_sfence(); }
  STRATA_LANES static F reversed(F x) { return _mm256_permute4x64_pd(x, 0b00'01'10'11); }
  STRATA_LANES static void transpose(F* x) {
    F a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]),
      c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
    x[0] = _mm256_permute2f128_pd(a, c, 0x20);
    x[1] = _mm256_permute2f128_pd(b, d, 0x20);
    x[2] = _mm256_permute2f128_pd(a, c, 0x31);
    x[3] = _mm256_permute2f128_pd(b, d, 0x31);
  }
  STRATA_LANES static void transpose_pairs(F* x) {
    const F a = x[0];
    x[0] = _mm256_permute2f128_pd(a, x[1], 0x20), x[1] = _mm256_permute2f128_pd(a, x[1], 0x31);
  }
  STRATA_LANES static void parted(F low, F high, F& re, F& im) {
    const F a = _mm256_permute2f128_pd(low, high, 0x20),
            b = _mm256_permute2f128_pd(low, high, 0x31);
    re = _mm256_unpacklo_pd(a, b), im = _mm256_unpackhi_pd(a, b);
  }
  STRATA_LANES static void joined(F re, F im, F& low, F& high) {
    const F a = _mm256_unpacklo_pd(re, im), b = _mm256_unpackhi_pd(re, im);
    low = _mm256_permute2f128_pd(a, b, 0x20), high = _mm256_permute2f128_pd(a, b, 0x31);
  }
};

struct Eight {
  static constexpr int kWidth = 8;
  using N = float;
  using F = __m256;
  STRATA_LANES static F all(float x) { return _mm256_set1_ps(x); }
  STRATA_LANES static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  STRATA_LANES static F load(const float* at) { return _mm256_loadu_ps(at); }
  STRATA_LANES static void store(float* at, F x) { _mm256_storeu_ps(at, x); }
  STRATA_LANES static __m256i first_lanes(std::int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(smaller(count, kWidth))),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  STRATA_LANES static F load_first(const float* at, std::int64_t count) {
    return _mm256_maskload_ps(at, first_lanes(count));
  }
  STRATA_LANES static void store_first(float* at, std::int64_t count, F x) {
    count >= kWidth ? store(at, x) : store_few(at, count, x);
  }
  [[gnu::noinline]] static void store_few(float* at, std::int64_t count, F x) {
    __m128 some = _mm256_castps256_ps128(x);
    if (count >= 4)
      _mm_storeu_ps(at, some), some = _mm256_extractf128_ps(x, 1), at += 4, count -= 4;
    if (count >= 2)
      _mm_storel_pi(reinterpret_cast<__m64*>(at), some), some = _mm_movehl_ps(some, some), at += 2,
                                                         count -= 2;
    if (count >= 1) _mm_store_ss(at, some);
  }
  STRATA_LANES static void stream(float* at, F x) { _mm256_stream_ps(at, x); }
  STRATA_LANES static void streamed() { _mm_sfence(); }
  STRATA_LANES static F reversed(F x) {
    return _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  }
  /// Pairs of numbers, of pairs, of halves change places.
  STRATA_LANES static void transpose(F* x) {
    F a[8], b[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2)
      a[i] = _mm256_unpacklo_ps(x[i], x[i + 1]), a[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        b[i + 2 * j] = _mm256_shuffle_ps(a[i + j], a[i + 2 + j], 0b01'00'01'00);
        b[i + 2 * j + 1] = _mm256_shuffle_ps(a[i + j], a[i + 2 + j], 0b11'10'11'10);
      }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x20);
      x[4 + i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x31);
    }
  }
  STRATA_LANES static void transpose_pairs(F* x) {
    __m256d pairs[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) pairs[i] = _mm256_castps_pd(x[i]);
    Four::transpose(pairs);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) x[i] = _mm256_castpd_ps(pairs[i]);
  }
  STRATA_LANES static void parted(F low, F high, F& re, F& im) {
    const F a = _mm256_permute2f128_ps(low, high, 0x20),
            b = _mm256_permute2f128_ps(low, high, 0x31);
    re = _mm256_shuffle_ps(a, b, 0b10'00'10'00), im = _mm256_shuffle_ps(a, b, 0b11'01'11'01);
  }
  STRATA_LANES static void joined(F re, F im, F& low, F& high) {
    const F a = _mm256_unpacklo_ps(re, im), b = _mm256_unpackhi_ps(re, im);
    low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
  }
};

}  // namespace

const InstructionSet kAvx2{
    "avx2", [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); },
    transforms_by<Eight>, transforms_by<Four>, run_planes<Four>};

}  // namespace strata::loop::fft

#ifdef __clang__
#pragma clang attribute pop
#endif
