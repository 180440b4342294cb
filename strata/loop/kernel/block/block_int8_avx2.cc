// block_int8.h by products of bytes in 16 bits.
#include <immintrin.h>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/block/block_int8.h"
#include "strata/type/block_encode.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif

#include "strata/loop/kernel/block/block_int8_x86.h"

namespace strata::loop::block8 {
namespace {

struct Avx2 : Bytes32 {
  /// Two products of at most 128 * 127 fit into 16 bits.
  STRATA_INLINE static I dot(B levels, const std::int8_t* n) {
    const __m256i pairs =
        _mm256_maddubs_epi16(_mm256_abs_epi8(levels.v), _mm256_sign_epi8(bytes(n).v, levels.v));
    return {_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))};
  }
  STRATA_INLINE static I dot_natural(B levels, const std::int8_t* n) {
    const __m256i pairs = _mm256_maddubs_epi16(levels.v, bytes(n).v);
    return {_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))};
  }
};

bool present() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

}  // namespace

const InstructionSet kAvx2{"avx2", present, round_groups, Formats<Avx2>::all.data()};

}  // namespace strata::loop::block8

#ifdef __clang__
#pragma clang attribute pop
#endif
