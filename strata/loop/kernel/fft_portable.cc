// fft without vectors, for any CPU: kept small, since processors of today have vectors.
#include <cmath>

#ifndef __clang__
#pragma GCC optimize("Os")
#endif

#include "strata/loop/kernel/fft_transform.h"

namespace strata::loop::fft {
namespace {

struct One {
  static constexpr int kWidth = 1;
  using F = double;
  STRATA_LANES static F all(double x) { return x; }
  STRATA_LANES static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  STRATA_LANES static F load(const double* at) { return *at; }
  STRATA_LANES static void store(double* at, F x) { *at = x; }
  STRATA_LANES static void stream(double* at, F x) { *at = x; }
  STRATA_LANES static void streamed() {}
  STRATA_LANES static F reversed(F x) { return x; }
  STRATA_LANES static void transpose(F*) {}
  template <class T>
  STRATA_LANES static void apart(const T* at, F& re, F& im) { re = at[0], im = at[1]; }
  template <class T>
  STRATA_LANES static void together(F re, F im, T* at) { at[0] = static_cast<T>(re), at[1] = static_cast<T>(im); }
  STRATA_LANES static void together_streamed(F re, F im, float* at) { together(re, im, at); }
};

}  // namespace

const InstructionSet kPortable{"portable", [] { return true; }, run<One, float>, run<One, double>, part<One, float>, part<One, double>,
                             run_planes<One>};

}  // namespace strata::loop::fft
