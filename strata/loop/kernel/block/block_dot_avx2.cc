// block_dot.h with vectors of eight f32.
#include <immintrin.h>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/block/block_dot.h"
#include "strata/type/block_encode.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif

#include "strata/loop/kernel/block/block_tile.h"

namespace strata::loop::block {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8, kTileX = 1, kTileW = 3;
  typedef float F __attribute__((vector_size(32)));
  typedef int I __attribute__((vector_size(32)));
  struct Table {
    F low, high;
  };
  STRATA_INLINE static F all(float x) { return F(_mm256_set1_ps(x)); }
  STRATA_INLINE static I all_integers(int x) { return I(_mm256_set1_epi32(x)); }
  STRATA_INLINE static F load(const float* at) { return F(_mm256_loadu_ps(at)); }
  STRATA_INLINE static void store(float* at, F x) { _mm256_storeu_ps(at, x); }
  STRATA_INLINE static F fma(F a, F b, F c) { return F(_mm256_fmadd_ps(a, b, c)); }
  STRATA_INLINE static __m128i eight(Bytes at) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
  }
  STRATA_INLINE static I bytes(Bytes at) { return I(_mm256_cvtepu8_epi32(eight(at))); }
  STRATA_INLINE static I signed_bytes(Bytes at) { return I(_mm256_cvtepi8_epi32(eight(at))); }
  STRATA_INLINE static F number(I x) { return F(_mm256_cvtepi32_ps(__m256i(x))); }
  STRATA_INLINE static I bits(std::uint32_t word, int shift) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return I(_mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(word >> shift)), lanes)) & 1;
  }
  STRATA_INLINE static Table table(const float* base, float scale, float minimum) {
    return {load(base) * all(scale) - all(minimum), load(base + 8) * all(scale) - all(minimum)};
  }
  STRATA_INLINE static F lookup(const Table& table, I i) {
    // The fourth bit of the index, as a sign, chooses between the halves.
    const __m256 is_high = _mm256_castsi256_ps(__m256i(i << 28));
    return F(_mm256_blendv_ps(_mm256_permutevar8x32_ps(table.low, __m256i(i)),
                              _mm256_permutevar8x32_ps(table.high, __m256i(i)), is_high));
  }
  /// Eight partial sums to one.
  STRATA_INLINE static float total_of_eight(__m256 s) {
    __m128 t = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
    t = _mm_add_ps(t, _mm_movehl_ps(t, t));
    return _mm_cvtss_f32(_mm_add_ss(t, _mm_movehdup_ps(t)));
  }
  STRATA_INLINE static float total(const F* s) {
    return total_of_eight(__m256((s[0] + s[2]) + (s[1] + s[3])));
  }
  STRATA_INLINE static float half(Bytes at) {
    std::uint16_t bits;
    __builtin_memcpy(&bits, at, sizeof bits);
    return _cvtsh_ss(bits);
  }
};

bool present() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

}  // namespace

const InstructionSet kAvx2 = instructions<Avx2>("avx2", present);

}  // namespace strata::loop::block

#ifdef __clang__
#pragma clang attribute pop
#endif
