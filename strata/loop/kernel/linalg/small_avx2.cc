// small.h with vectors of four f64.
#include <immintrin.h>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/linalg/small.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#include "strata/loop/kernel/linalg/small_lanes.h"

namespace strata::loop::small {
namespace {

struct Four {
  static constexpr int kWidth = 4;
  typedef double F __attribute__((vector_size(4 * sizeof(double))));
  typedef long long Mask __attribute__((vector_size(4 * sizeof(double))));
  STRATA_SMALL static F sqrt(F x) { return F(_mm256_sqrt_pd(x)); }
  STRATA_SMALL static bool any(Mask x) { return _mm256_movemask_pd(__m256d(x)) != 0; }
};

bool present() { return __builtin_cpu_supports("avx2"); }

}  // namespace

const InstructionSet kAvx2{
    "avx2", present, cholesky<Four>, lu<Four>, triangular_solve<Four>, right_sides<Four>};

}  // namespace strata::loop::small

#ifdef __clang__
#pragma clang attribute pop
#endif
