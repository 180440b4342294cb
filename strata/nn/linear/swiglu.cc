#include "strata/nn/linear/swiglu.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/nn/linear/products.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/nn/transform/named_tensors.h"

namespace strata::nn {

Array swiglu(const Array& x, const Array& gate, const Array& up, const Array& down) {
  Array g = named(nn::matmul(x, gate), "mlpwi_0");
  Array h = g * lax::logistic(g) * named(nn::matmul(x, up), "mlpwi_1");
  if (h.ndim() == 3)
    h = with_logical_constraint(h, {"activation_batch", "activation_length", "activation_mlp"});
  return named(nn::matmul(h, down), "mlpwo");
}

Array SwiGLU::operator()(const Array& x) const {
  const ModuleScope scope(*this, "SwiGLU");
  return scope.returns(swiglu(x, gate, up, down), x);
}

SwiGLU SwiGLU::init(const Array& key, std::int64_t features, std::int64_t hidden,
                    const Initializer& kernel_init, DType param_dtype) {
  const Array keys = random::split(key, 3);
  return {kernel_init(keys[0], {features, hidden}, param_dtype),
          kernel_init(keys[1], {features, hidden}, param_dtype),
          kernel_init(keys[2], {hidden, features}, param_dtype)};
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::SwiGLU)
