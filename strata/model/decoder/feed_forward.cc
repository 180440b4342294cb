#include "strata/model/decoder/feed_forward.h"

#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/model/decoder/gate.h"
#include "strata/nn/logical_sharding.h"
#include "strata/nn/wide.h"

namespace strata::model::decoder {

Array activate(const Array& x, Activation activation) {
  switch (activation) {
    case Activation::silu: return strata::nn::silu(x);
    case Activation::gelu: return strata::nn::gelu(x, false);
    case Activation::gelu_tanh: return strata::nn::gelu(x, true);
    case Activation::relu: return strata::nn::relu(x);
  }
  STRATA_UNREACHABLE("no activation {}", static_cast<int>(activation));
}

namespace {

/// The product of what is gated and its gate, both clipped.
Array clipped(const Array& gate, const Array& up, const ExpertOptions& o) {
  const Array g = minimum(gate, o.gate_limit);
  return (clip(up, -o.gate_limit, o.gate_limit) + 1) * g * strata::nn::sigmoid(g * o.gate_alpha);
}

}  // namespace

Array FeedForward::operator()(const Array& x, Activation activation) const {
  const nn::ModuleScope scope(*this, "FeedForward");
  Array h = gate ? activate((*gate)(x), activation) * up(x) : activate(up(x), activation);
  if (h.ndim() == 3)
    h = nn::with_logical_constraint(h, {"activation_batch", "activation_length", "activation_mlp"});
  return scope.returns(down(h), x);
}

Routes Experts::routes(const Array& x, const ExpertOptions& o) const {
  std::optional<Array> bias;
  if (choice_bias) bias = Array(*choice_bias);
  return route(astype(router(x), nn::wide(x.dtype())), bias, o);
}

Array Experts::weights(const Array& x, const ExpertOptions& o) const {
  const Routes r = routes(x, o);
  return sum(where(assignments(r.experts, o.count), expand_dims(r.weights, -1), Array(0.0f)), -2);
}

Array Experts::operator()(const Array& x, const ExpertOptions& o, Activation activation) const {
  return along(x, routes(x, o), o, activation);
}

Array Experts::along(const Array& x, const Routes& routes, const ExpertOptions& o,
                     Activation activation) const {
  const nn::ModuleScope scope(*this, "Experts");
  const std::int64_t width = x.shape().sizes().back(), tokens = x.size() / width;
  // Rows of one expert follow each other, each expert's in the order of its tokens.
  const Array expert = reshape(routes.experts, {tokens * o.active});
  const Array order = argsort(expert);
  Array rows =
      take(reshape(x, {tokens, width}), floor_divide(order, Array(static_cast<int>(o.active))), 0);
  if (o.weigh_input) {
    const Array by = take(reshape(routes.weights, {tokens * o.active, 1}), order, 0);
    rows = rows * astype(by, rows.dtype());
  }
  const Array sizes = sum(astype(equal(expand_dims(expert, 1), arange(o.count)), DType::i32), 0);
  const auto product = [&](const Array& a, const ExpertWeight& w) {
    const Array y = lax::ragged_dot(a, astype(w.kernel, a.dtype()), sizes);
    return w.bias ? y + astype(take(*w.bias, take(expert, order, 0), 0), y.dtype()) : y;
  };
  const Array g = product(rows, gate), u = product(rows, up);
  const Array h = o.gate_limit > 0 ? clipped(g, u, o) : activate(g, activation) * u;
  const Array each = reshape(take(product(h, down), argsort(order), 0), {tokens, o.active, width});
  const DType wide = nn::wide(x.dtype());
  Array weighted = astype(each, wide);
  if (!o.weigh_input) weighted = weighted * reshape(routes.weights, {tokens, o.active, 1});
  Array y = reshape(astype(sum(weighted, 1), x.dtype()), x.shape());
  if (shared) {
    const Array all = (*shared)(x, activation);
    y = y + (shared_gate ? strata::nn::sigmoid((*shared_gate)(x)) * all : all);
  }
  return scope.returns(y, x);
}

}  // namespace strata::model::decoder
