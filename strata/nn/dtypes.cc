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
  std::vector<Array> present;
  for (const Array* x : values)
    if (x->has_value()) present.push_back(*x);
  if (present.empty() && !dtype) return;
  const DType to = canonicalize_dtype(std::span<const Array>(present), dtype, inexact);
  for (Array* x : values)
    if (x->has_value() && x->dtype() != to) *x = astype(*x, to);
}

}  // namespace strata::nn
