// fft without vectors, for any CPU: kept small, since processors of today have vectors.
#include <cmath>

#ifndef __clang__
#pragma GCC optimize("Os")
#endif

#include "strata/loop/kernel/fft/fft_transform.h"

namespace strata::loop::fft {
namespace {

template <class Number>
struct One {
  static constexpr int kWidth = 1;
  using N = Number;
  using F = N;
  STRATA_LANES static F all(N x) { return x; }
  STRATA_LANES static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  STRATA_LANES static F load(const N* at) { return *at; }
  STRATA_LANES static void store(N* at, F x) { *at = x; }
  STRATA_LANES static F load_first(const N* at, std::int64_t count) {
    return count > 0 ? *at : N{0};
  }
  STRATA_LANES static void store_first(N* at, std::int64_t count, F x) {
    if (count > 0) *at = x;
  }
  STRATA_LANES static void stream(N* at, F x) { *at = x; }
  STRATA_LANES static void streamed() {}
  STRATA_LANES static F reversed(F x) { return x; }
  STRATA_LANES static void transpose(F*) {}
  STRATA_LANES static void parted(F low, F high, F& re, F& im) { re = low, im = high; }
  STRATA_LANES static void joined(F re, F im, F& low, F& high) { low = re, high = im; }
};

}  // namespace

const InstructionSet kPortable{"portable", [] { return true; }, transforms_by<One<float>>,
                               transforms_by<One<double>>, run_planes<One<double>>};

}  // namespace strata::loop::fft
