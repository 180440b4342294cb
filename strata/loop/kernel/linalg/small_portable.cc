// small.h with vectors of two f64, which any x86-64 has.
#include <immintrin.h>

#include "strata/loop/kernel/linalg/small_lanes.h"

namespace strata::loop::small {
namespace {

struct Two {
  static constexpr int kWidth = 2;
  typedef double F __attribute__((vector_size(2 * sizeof(double))));
  typedef long long Mask __attribute__((vector_size(2 * sizeof(double))));
  STRATA_SMALL static F sqrt(F x) { return F(_mm_sqrt_pd(x)); }
  STRATA_SMALL static bool any(Mask x) { return _mm_movemask_pd(__m128d(x)) != 0; }
};

bool present() { return true; }

}  // namespace

const InstructionSet kPortable{
    "portable", present, cholesky<Two>, lu<Two>, triangular_solve<Two>, right_sides<Two>};

const InstructionSet& instruction_set() {
  static const InstructionSet& best = kAvx512.present() ? kAvx512
                                      : kAvx2.present() ? kAvx2
                                                        : kPortable;
  return best;
}

}  // namespace strata::loop::small
