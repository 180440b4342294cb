#include "strata/model/decoder/linear.h"

namespace strata::model::decoder {

Array Adapter::add_to(const Array& y, const Array& x) const {
  const nn::ModuleScope scope(*this, "Adapter");
  const lax::DotDimensionNumbers dimensions{.lhs_contracting = {x.ndim() - 1},
                                            .rhs_contracting = {0}};
  const nn::ProductOptions met{.dtype = x.dtype()};
  const Array low = nn::dot_general(x, a, dimensions, met);
  const Array added = nn::dot_general(low, b, dimensions, met);
  return y + astype(added * scale, y.dtype());
}

Array Linear::operator()(const Array& x) const {
  const nn::ModuleScope scope(*this, "Linear");
  const Array y = nn::affine("Linear", x, kernel, bias, product);
  return scope.returns(lora ? lora->add_to(y, x) : y, x);
}

}  // namespace strata::model::decoder

STRATA_COMPILE_VISIT(strata::model::decoder::Linear)
