#include "strata/nn/norm.h"

#include "strata/api/lax.h"

namespace strata::nn {

Array rms_norm(const Array& x, const Array& weight, double epsilon) {
  Array wide = astype(x, DType::f32);
  Array scale = lax::rsqrt(mean(wide * wide, {.axis = -1, .keepdims = true}) + epsilon);
  return astype(wide * scale, x.dtype()) * weight;
}

}  // namespace strata::nn
