// fft with vectors of eight f64.
#include <immintrin.h>

#include <cstdint>
#include <memory>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx2,fma")
#endif

#include "strata/loop/kernel/fft_transform.h"

namespace strata::loop::fft {
namespace {

struct Eight {
  static constexpr int kWidth = 8;
  using F = __m512d;
  STRATA_LANES static F all(double x) { return _mm512_set1_pd(x); }
  STRATA_LANES static F fma(F a, F b, F c) { return _mm512_fmadd_pd(a, b, c); }
  STRATA_LANES static F load(const double* at) { return _mm512_loadu_pd(at); }
  STRATA_LANES static F load(const float* at) { return _mm512_cvtps_pd(_mm256_loadu_ps(at)); }
  STRATA_LANES static void store(double* at, F x) { _mm512_storeu_pd(at, x); }
  STRATA_LANES static void store(float* at, F x) { _mm256_storeu_ps(at, _mm512_cvtpd_ps(x)); }
  STRATA_LANES static void stream(double* at, F x) { _mm512_stream_pd(at, x); }
  STRATA_LANES static void stream(float* at, F x) { _mm256_stream_ps(at, _mm512_cvtpd_ps(x)); }
  STRATA_LANES static void streamed() { _mm_sfence(); }
  STRATA_LANES static F reversed(F x) { return _mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), x); }
  /// Pairs of numbers, of pairs, of quarters change places.
  STRATA_LANES static void transpose(F* x) {
    F a[8], b[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) a[i] = _mm512_unpacklo_pd(x[i], x[i + 1]), a[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
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
  template <class T>
  STRATA_LANES static void apart(const T* at, F& re, F& im) {
    F low = load(at), high = load(at + 8);
    re = _mm512_permutex2var_pd(low, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), high);
    im = _mm512_permutex2var_pd(low, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), high);
  }
  template <class T>
  STRATA_LANES static void together(F re, F im, T* at) {
    store(at, _mm512_permutex2var_pd(re, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), im));
    store(at + 8, _mm512_permutex2var_pd(re, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), im));
  }
  STRATA_LANES static void together_streamed(F re, F im, float* at) {
    stream(at, _mm512_permutex2var_pd(re, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), im));
    stream(at + 8, _mm512_permutex2var_pd(re, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), im));
  }
};

}  // namespace

const InstructionSet kAvx512{"avx512", [] { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }, run<Eight, float>, run<Eight, double>, part<Eight, float>, part<Eight, double>,
                             run_planes<Eight>};

}  // namespace strata::loop::fft

#ifdef __clang__
#pragma clang attribute pop
#endif
