#include "strata/nn/recurrent/gru.h"

namespace strata::nn {

GRUCell::GRUCell(std::int64_t in_features, std::int64_t hidden_features, Rngs& rngs,
                 const CellOptions& o)
    : dense_i(in_features, 3 * hidden_features, rngs, detail::input_layer(o, true)),
      dense_h(hidden_features, 3 * hidden_features, rngs,
              detail::carry_layer(o, false, initializers::orthogonal())),
      gate_fn(o.gate_fn),
      activation_fn(o.activation_fn),
      in_features(in_features),
      hidden_features(hidden_features),
      param_dtype(o.param_dtype) {}

std::pair<Array, Array> GRUCell::operator()(const Array& h, const Array& x) const {
  const ModuleScope scope(*this, "GRUCell");
  detail::check_step("GRUCell", x, in_features, h, hidden_features);
  const std::vector<Array> of_x = numpy::split(dense_i(x), 3, -1);
  const std::vector<Array> of_h = numpy::split(dense_h(h), 3, -1);
  const Array r = gate_fn(of_x[0] + of_h[0]);
  const Array z = gate_fn(of_x[1] + of_h[1]);
  const Array n = activation_fn(of_x[2] + r * of_h[2]);
  const Array out = (1.0 - z) * n + z * h;
  return scope.returns(std::pair(out, out), h, x);
}

Array GRUCell::initialize_carry(const Sizes& input_shape, RngStream& rngs,
                                const Initializer& init) const {
  return detail::first_carry("GRUCell", input_shape, hidden_features, rngs, init, param_dtype);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::GRUCell)
