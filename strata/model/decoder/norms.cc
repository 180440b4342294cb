#include "strata/model/decoder/norms.h"

#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/nn/module.h"
#include "strata/nn/wide.h"

namespace strata::model::decoder {

Array Norm::operator()(const Array& x, NormKind kind, double epsilon) const {
  const nn::ModuleScope scope(*this, "Norm");
  const DType wide = nn::wide(x.dtype());
  Array full = astype(x, wide);
  if (kind == NormKind::layer_norm) full = full - mean(full, {.axis = -1, .keepdims = true});
  const Array unit = full * lax::rsqrt(mean(full * full, {.axis = -1, .keepdims = true}) + epsilon);
  if (kind == NormKind::llama)
    return scope.returns(astype(unit, x.dtype()) * astype(scale, x.dtype()), x);
  const Array factor = astype(scale, wide);
  Array y = unit * (kind == NormKind::gemma ? factor + 1.0 : factor);
  if (bias) y = y + astype(*bias, wide);
  return scope.returns(astype(y, x.dtype()), x);
}

}  // namespace strata::model::decoder
