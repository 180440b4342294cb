// fft with vectors of four f64.
#include <immintrin.h>

#include <cstdint>
#include <memory>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

#include "strata/loop/kernel/fft_transform.h"

namespace strata::loop::fft {
namespace {

struct Four {
  static constexpr int kWidth = 4;
  using F = __m256d;
  STRATA_LANES static F all(double x) { return _mm256_set1_pd(x); }
  STRATA_LANES static F fma(F a, F b, F c) { return _mm256_fmadd_pd(a, b, c); }
  STRATA_LANES static F load(const double* at) { return _mm256_loadu_pd(at); }
  STRATA_LANES static F load(const float* at) { return _mm256_cvtps_pd(_mm_loadu_ps(at)); }
  STRATA_LANES static void store(double* at, F x) { _mm256_storeu_pd(at, x); }
  STRATA_LANES static void store(float* at, F x) { _mm_storeu_ps(at, _mm256_cvtpd_ps(x)); }
  STRATA_LANES static void stream(double* at, F x) { _mm256_stream_pd(at, x); }
  STRATA_LANES static void stream(float* at, F x) { _mm_stream_ps(at, _mm256_cvtpd_ps(x)); }
  STRATA_LANES static void streamed() { _mm_sfence(); }
  STRATA_LANES static F reversed(F x) { return _mm256_permute4x64_pd(x, 0b00'01'10'11); }
  STRATA_LANES static void transpose(F* x) {
    F a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]), c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
    x[0] = _mm256_permute2f128_pd(a, c, 0x20);
    x[1] = _mm256_permute2f128_pd(b, d, 0x20);
    x[2] = _mm256_permute2f128_pd(a, c, 0x31);
    x[3] = _mm256_permute2f128_pd(b, d, 0x31);
  }
  template <class T>
  STRATA_LANES static void apart(const T* at, F& re, F& im) {
    F low = load(at), high = load(at + 4), a = _mm256_permute2f128_pd(low, high, 0x20), b = _mm256_permute2f128_pd(low, high, 0x31);
    re = _mm256_unpacklo_pd(a, b), im = _mm256_unpackhi_pd(a, b);
  }
  template <class T>
  STRATA_LANES static void together(F re, F im, T* at) {
    F a = _mm256_unpacklo_pd(re, im), b = _mm256_unpackhi_pd(re, im);
    store(at, _mm256_permute2f128_pd(a, b, 0x20));
    store(at + 4, _mm256_permute2f128_pd(a, b, 0x31));
  }
  STRATA_LANES static void together_streamed(F re, F im, float* at) {
    F a = _mm256_unpacklo_pd(re, im), b = _mm256_unpackhi_pd(re, im);
    stream(at, _mm256_permute2f128_pd(a, b, 0x20));
    stream(at + 4, _mm256_permute2f128_pd(a, b, 0x31));
  }
};

}  // namespace

const InstructionSet kAvx2{"avx2", [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }, run<Four, float>, run<Four, double>,
                           part<Four, float>, part<Four, double>, run_planes<Four>};

}  // namespace strata::loop::fft

#ifdef __clang__
#pragma clang attribute pop
#endif
