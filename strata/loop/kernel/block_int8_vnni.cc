// block_int8.h by vpdpbusd.
#include <immintrin.h>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/block_int8.h"
#include "strata/type/block_encode.h"

#ifdef __clang__
#pragma clang attribute push(                                                      \
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512vnni,avx2,fma,f16c"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512vnni,avx2,fma,f16c")
#endif

#include "strata/loop/kernel/block_int8_x86.h"

namespace strata::loop::block8 {
namespace {

struct Vnni : Bytes32 {
  /// Of magnitudes and of n with the levels' signs: one side of the instruction has none.
  STRATA_INLINE static F dot(B levels, const std::int8_t* n) {
    const __m256i sum = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_abs_epi8(levels.v),
                                            _mm256_sign_epi8(bytes(n).v, levels.v));
    return F(_mm256_cvtepi32_ps(sum));
  }
  STRATA_INLINE static F dot_natural(B levels, const std::int8_t* n) {
    return F(_mm256_cvtepi32_ps(_mm256_dpbusd_epi32(_mm256_setzero_si256(), levels.v, bytes(n).v)));
  }
};

bool present() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("f16c");
}

}  // namespace

const InstructionSet kVnni{"vnni", present, Formats<Vnni>::all.data()};

}  // namespace strata::loop::block8

#ifdef __clang__
#pragma clang attribute pop
#endif
