// product.h without vectors: fused multiply-adds of the C library.
#include <cmath>

#include "strata/loop/kernel/product_tile.h"

namespace strata::loop::product {
namespace {

struct Portable {
  template <class T>
  using Vector = T;
  template <class T>
  static T all(T x, T) {
    return x;
  }
  template <class T>
  static void stream(T* to, T x) {
    *to = x;
  }
  template <class T>
  static T multiply_add(T a, T b, T sum) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fma(a, b, sum);
    else
      return sum + a * b;
  }
};

bool present() { return true; }

}  // namespace

const InstructionSet kPortable{instructions<Portable, 4>("portable", present)};

const InstructionSet& instruction_set() {
  static const InstructionSet& best = kAvx512.present() ? kAvx512
                                      : kAvx2.present() ? kAvx2
                                                        : kPortable;
  return best;
}

}  // namespace strata::loop::product
