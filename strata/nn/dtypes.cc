#include "strata/nn/dtypes.h"

namespace strata::nn {

DType canonicalize_dtype(std::span<const Array> values, std::optional<DType> dtype, bool inexact) {
  if (!dtype) {
    DType met = DType::i1;
    bool first = true;
    for (const Array& x : values) {
      met = first ? x.dtype() : numpy::promote_types(met, x.dtype());
      first = false;
    }
    if (inexact && !is_float(met) && !is_complex(met)) met = numpy::promote_types(DType::f32, met);
    return met;
  }
  if (inexact && !is_float(*dtype) && !is_complex(*dtype))
    strata::internal::fail("nn", "dtype must be a float or complex type, got {}",
                           strata::name(*dtype));
  return *dtype;
}

void promote_dtype(std::initializer_list<Array*> values, std::optional<DType> dtype, bool inexact) {
  std::optional<DType> met = dtype;
  if (!met) {
    for (const Array* x : values)
      if (x->has_value()) met = met ? numpy::promote_types(*met, x->dtype()) : x->dtype();
    if (met && inexact && !is_float(*met) && !is_complex(*met))
      met = numpy::promote_types(DType::f32, *met);
  }
  if (!met) return;
  const DType to = canonicalize_dtype(std::span<const Array>(), met, inexact);
  for (Array* x : values)
    if (x->has_value() && x->dtype() != to) *x = astype(*x, to);
}

}  // namespace strata::nn
