#include "strata/nn/swiglu.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"

namespace strata::nn {

Array swiglu(const Array& x, const Array& gate, const Array& up, const Array& down) {
  Array g = matmul(x, gate);
  return matmul(g * lax::logistic(g) * matmul(x, up), down);
}

SwiGLU SwiGLU::init(const Array& key, std::int64_t features, std::int64_t hidden,
                    const Initializer& kernel_init, DType param_dtype) {
  const Array keys = random::split(key, 3);
  return {kernel_init(keys[0], {features, hidden}, param_dtype),
          kernel_init(keys[1], {features, hidden}, param_dtype),
          kernel_init(keys[2], {hidden, features}, param_dtype)};
}

}  // namespace strata::nn
