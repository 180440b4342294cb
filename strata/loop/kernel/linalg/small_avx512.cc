// small.h with vectors of eight f64.
#include <immintrin.h>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/linalg/small.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC target("avx512f")
#endif

#include "strata/loop/kernel/linalg/small_lanes.h"

namespace strata::loop::small {
namespace {

struct Eight {
  static constexpr int kWidth = 8;
  typedef double F __attribute__((vector_size(8 * sizeof(double))));
  typedef long long Mask __attribute__((vector_size(8 * sizeof(double))));
  STRATA_SMALL static F sqrt(F x) { return F(_mm512_sqrt_pd(x)); }
  STRATA_SMALL static bool any(Mask x) {
    return _mm512_test_epi64_mask(__m512i(x), __m512i(x)) != 0;
  }
};

bool present() { return __builtin_cpu_supports("avx512f"); }

}  // namespace

const InstructionSet kAvx512{
    "avx512", present, cholesky<Eight>, lu<Eight>, triangular_solve<Eight>, right_sides<Eight>};

}  // namespace strata::loop::small

#ifdef __clang__
#pragma clang attribute pop
#endif
