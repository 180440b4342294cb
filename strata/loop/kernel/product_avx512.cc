// product.h with vectors of sixteen f32.
#include <immintrin.h>

// Outside of these instructions: others may get its inline functions.
#include "strata/loop/kernel/product.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC target("avx512f")
#endif

#include "strata/loop/kernel/product_tile.h"

namespace strata::loop::product {
namespace {

struct Avx512 {
  template <class T>
  struct Of {
    typedef T Type __attribute__((vector_size(64)));
  };
  template <class T>
  using Vector = typename Of<T>::Type;
  template <class T, class V>
  __attribute__((always_inline)) static V all(T x, V) {
    return x - V{};
  }
  template <class T, class V>
  __attribute__((always_inline)) static void stream(T* to, V x) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)x);
  }
  template <class V>
  __attribute__((always_inline)) static V multiply_add(V a, V b, V sum) {
    if constexpr (std::is_same_v<V, Vector<float>>)
      return V(_mm512_fmadd_ps(a, b, sum));
    else if constexpr (std::is_same_v<V, Vector<double>>)
      return V(_mm512_fmadd_pd(a, b, sum));
    else
      return sum + a * b;
  }
};

bool present() { return __builtin_cpu_supports("avx512f"); }

}  // namespace

const InstructionSet kAvx512{instructions<Avx512, 12>("avx512", present)};

}  // namespace strata::loop::product

#ifdef __clang__
#pragma clang attribute pop
#endif
