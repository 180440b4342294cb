// block_dot.h with vectors of sixteen f32: nibbles are looked up in a register.
#include <immintrin.h>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/block/block_dot.h"
#include "strata/type/block_encode.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx2,fma,f16c"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx2,fma,f16c")
#endif

#include "strata/loop/kernel/block/block_tile.h"

namespace strata::loop::block {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16, kTileX = 4, kTileW = 3;
  typedef float F __attribute__((vector_size(64)));
  typedef int I __attribute__((vector_size(64)));
  using Table = F;
  STRATA_INLINE static F all(float x) { return F(_mm512_set1_ps(x)); }
  STRATA_INLINE static I all_integers(int x) { return I(_mm512_set1_epi32(x)); }
  STRATA_INLINE static F load(const float* at) { return F(_mm512_loadu_ps(at)); }
  STRATA_INLINE static void store(float* at, F x) { _mm512_storeu_ps(at, x); }
  STRATA_INLINE static F fma(F a, F b, F c) { return F(_mm512_fmadd_ps(a, b, c)); }
  STRATA_INLINE static __m128i sixteen(Bytes at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  STRATA_INLINE static I bytes(Bytes at) { return I(_mm512_cvtepu8_epi32(sixteen(at))); }
  STRATA_INLINE static I signed_bytes(Bytes at) { return I(_mm512_cvtepi8_epi32(sixteen(at))); }
  STRATA_INLINE static F number(I x) { return F(_mm512_cvtepi32_ps(__m512i(x))); }
  STRATA_INLINE static I bits(std::uint32_t word, int shift) {
    return I(_mm512_maskz_set1_epi32(static_cast<__mmask16>(word >> shift), 1));
  }
  STRATA_INLINE static Table table(const float* base, float scale, float minimum) {
    return load(base) * all(scale) - all(minimum);
  }
  STRATA_INLINE static F lookup(const Table& table, I i) {
    return F(_mm512_permutexvar_ps(__m512i(i), table));
  }
  /// Eight partial sums to one.
  STRATA_INLINE static float total_of_eight(__m256 s) {
    __m128 t = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
    t = _mm_add_ps(t, _mm_movehl_ps(t, t));
    return _mm_cvtss_f32(_mm_add_ss(t, _mm_movehdup_ps(t)));
  }
  STRATA_INLINE static float total(const F* s) {
    const __m512 both = __m512(s[0] + s[1]);
    return total_of_eight(
        _mm256_add_ps(_mm512_castps512_ps256(both), _mm512_extractf32x8_ps(both, 1)));
  }
  STRATA_INLINE static float half(Bytes at) {
    std::uint16_t bits;
    __builtin_memcpy(&bits, at, sizeof bits);
    return _cvtsh_ss(bits);
  }
};

bool present() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("f16c");
}

}  // namespace

const InstructionSet kAvx512 = instructions<Avx512>("avx512", present);

}  // namespace strata::loop::block

#ifdef __clang__
#pragma clang attribute pop
#endif
