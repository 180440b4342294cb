#include "strata/nn/recurrent/simple_cell.h"

namespace strata::nn {

SimpleCell::SimpleCell(std::int64_t in_features, std::int64_t hidden_features, Rngs& rngs,
                       const SimpleCellOptions& o)
    : activation_fn(o.cell.activation_fn),
      residual(o.residual),
      in_features(in_features),
      hidden_features(hidden_features),
      param_dtype(o.cell.param_dtype) {
  CellOptions cell = o.cell;
  cell.product.dtype = cell.product.dtype.value_or(DType::f32);
  dense_h = Linear(hidden_features, hidden_features, rngs,
                   detail::carry_layer(cell, false, initializers::orthogonal()));
  dense_i = Linear(in_features, hidden_features, rngs, detail::input_layer(cell, true));
}

std::pair<Array, Array> SimpleCell::operator()(const Array& h, const Array& x) const {
  const ModuleScope scope(*this, "SimpleCell");
  detail::check_step("SimpleCell", x, in_features, h, hidden_features);
  Array sum = dense_i(x) + dense_h(h);
  if (residual) sum = sum + h;
  const Array out = activation_fn(sum);
  return scope.returns(std::pair(out, out), h, x);
}

Array SimpleCell::initialize_carry(const Sizes& input_shape, RngStream& rngs,
                                   const Initializer& init) const {
  return detail::first_carry("SimpleCell", input_shape, hidden_features, rngs, init, param_dtype);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::SimpleCell)
