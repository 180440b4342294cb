#include "strata/nn/norm.h"

#include "strata/api/lax.h"
#include "strata/nn/wide.h"

namespace strata::nn {

Array rms_norm(const Array& x, const Array& weight, double epsilon) {
  Array in_full = astype(x, wide(x.dtype()));
  Array scale = lax::rsqrt(mean(in_full * in_full, {.axis = -1, .keepdims = true}) + epsilon);
  return astype(in_full * scale, x.dtype()) * weight;
}

RMSNorm RMSNorm::init(const Array& key, std::int64_t num_features, double epsilon,
                      const Initializer& scale_init, DType param_dtype) {
  return {scale_init(key, {num_features}, param_dtype), epsilon};
}

}  // namespace strata::nn
