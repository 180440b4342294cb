#include "strata/nn/linear/prelu.h"

#include "strata/nn/dtypes.h"

namespace strata::nn {

PReLU::PReLU(const PReLUOptions& o)
    : negative_slope(numpy::full({}, o.negative_slope_init, o.param_dtype),
                     o.negative_slope_metadata),
      dtype(o.dtype) {}

Array PReLU::operator()(const Array& given) const {
  const ModuleScope scope(*this, "PReLU");
  Array x = given, slope = negative_slope;
  if (dtype)
    promote_dtype({&x, &slope}, dtype);
  else
    slope = astype(slope, x.dtype());
  return scope.returns(numpy::where(x >= Array::scalar(0.0, x.dtype(), false), x, slope * x),
                       given);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::PReLU)
