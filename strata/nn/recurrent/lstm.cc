#include "strata/nn/recurrent/lstm.h"

namespace strata::nn {

namespace {

/// Orthogonal in f32, then rounded: narrow floats have no factorisation.
Array rounded_orthogonal(const random::Key& key, const Sizes& shape, DType dtype) {
  return astype(initializers::orthogonal()(key, shape, DType::f32), dtype);
}

std::pair<std::pair<Array, Array>, Array> next(const Array& c, const Array& i, const Array& f,
                                               const Array& g, const Array& o,
                                               const Activation& activation) {
  const Array new_c = f * c + i * g;
  const Array new_h = o * activation(new_c);
  return {{new_c, new_h}, new_h};
}

}  // namespace

LSTMCell::LSTMCell(std::int64_t in_features, std::int64_t hidden_features, Rngs& rngs,
                   const CellOptions& o)
    : gate_fn(o.gate_fn),
      activation_fn(o.activation_fn),
      in_features(in_features),
      hidden_features(hidden_features),
      param_dtype(o.param_dtype) {
  const LinearOptions of_input = detail::input_layer(o, false);
  const LinearOptions of_carry = detail::carry_layer(o, true, Initializer(rounded_orthogonal));
  for (Linear* layer : {&ii, &if_, &ig, &io})
    *layer = Linear(in_features, hidden_features, rngs, of_input);
  for (Linear* layer : {&hi, &hf, &hg, &ho})
    *layer = Linear(hidden_features, hidden_features, rngs, of_carry);
}

std::pair<LSTMCell::Carry, Array> LSTMCell::operator()(const Carry& carry, const Array& x) const {
  const ModuleScope scope(*this, "LSTMCell");
  const auto& [c, h] = carry;
  for (const Array& part : {c, h})
    detail::check_step("LSTMCell", x, in_features, part, hidden_features);
  const Array i = gate_fn(ii(x) + hi(h));
  const Array f = gate_fn(if_(x) + hf(h));
  const Array g = activation_fn(ig(x) + hg(h));
  const Array o = gate_fn(io(x) + ho(h));
  return scope.returns(next(c, i, f, g, o, activation_fn), carry, x);
}

LSTMCell::Carry LSTMCell::initialize_carry(const Sizes& input_shape, RngStream& rngs,
                                           const Initializer& init) const {
  const auto one = [&] {
    return detail::first_carry("LSTMCell", input_shape, hidden_features, rngs, init, param_dtype);
  };
  Array c = one();
  return {std::move(c), one()};
}

OptimizedLSTMCell::OptimizedLSTMCell(std::int64_t in_features, std::int64_t hidden_features,
                                     Rngs& rngs, const CellOptions& o)
    : dense_i(in_features, 4 * hidden_features, rngs, detail::input_layer(o, false)),
      dense_h(hidden_features, 4 * hidden_features, rngs,
              detail::carry_layer(o, true, initializers::orthogonal())),
      gate_fn(o.gate_fn),
      activation_fn(o.activation_fn),
      in_features(in_features),
      hidden_features(hidden_features),
      param_dtype(o.param_dtype) {}

OptimizedLSTMCell::OptimizedLSTMCell(const LSTMCell& cell)
    : gate_fn(cell.gate_fn),
      activation_fn(cell.activation_fn),
      in_features(cell.in_features),
      hidden_features(cell.hidden_features),
      param_dtype(cell.param_dtype) {
  const auto side_by_side = [](const auto&... parts) {
    return numpy::concatenate({Array(parts)...}, -1);
  };
  dense_i = Linear(side_by_side(cell.ii.kernel, cell.if_.kernel, cell.ig.kernel, cell.io.kernel),
                   {}, cell.ii.product);
  dense_h = Linear(side_by_side(cell.hi.kernel, cell.hf.kernel, cell.hg.kernel, cell.ho.kernel),
                   Param(side_by_side(*cell.hi.bias, *cell.hf.bias, *cell.hg.bias, *cell.ho.bias)),
                   cell.hi.product);
}

std::pair<OptimizedLSTMCell::Carry, Array> OptimizedLSTMCell::operator()(const Carry& carry,
                                                                         const Array& x) const {
  const ModuleScope scope(*this, "OptimizedLSTMCell");
  const auto& [c, h] = carry;
  for (const Array& part : {c, h})
    detail::check_step("OptimizedLSTMCell", x, in_features, part, hidden_features);
  const std::vector<Array> gates = numpy::split(dense_i(x) + dense_h(h), 4, -1);
  return scope.returns(next(c, gate_fn(gates[0]), gate_fn(gates[1]), activation_fn(gates[2]),
                            gate_fn(gates[3]), activation_fn),
                       carry, x);
}

OptimizedLSTMCell::Carry OptimizedLSTMCell::initialize_carry(const Sizes& input_shape,
                                                             RngStream& rngs,
                                                             const Initializer& init) const {
  const auto one = [&] {
    return detail::first_carry("OptimizedLSTMCell", input_shape, hidden_features, rngs, init,
                               param_dtype);
  };
  Array c = one();
  return {std::move(c), one()};
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::LSTMCell)
STRATA_COMPILE_VISIT(strata::nn::OptimizedLSTMCell)
