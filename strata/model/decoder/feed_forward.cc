#include "strata/model/decoder/feed_forward.h"

#include "strata/api/nn.h"
#include "strata/api/numpy.h"
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

Array FeedForward::operator()(const Array& x, Activation activation) const {
  const nn::ModuleScope scope(*this, "FeedForward");
  if (!gate) return scope.returns(down(activate(up(x), activation)), x);
  return scope.returns(down(activate((*gate)(x), activation) * up(x)), x);
}

Array Experts::weights(const Array& x, const ExpertOptions& o) const {
  const Array scores = astype(router(x), nn::wide(x.dtype()));
  const Array p = strata::nn::softmax(scores, -1);
  // An expert is chosen where fewer than `active` stand before it; the scores that are compared are
  // the router's own, so that what rounds to one probability keeps its order.
  const Array own = expand_dims(scores, -1), other = expand_dims(scores, -2);
  const Array number = arange(o.count);
  const Array earlier = less(expand_dims(number, 0), expand_dims(number, 1));
  const Array before = logical_or(greater(other, own), logical_and(equal(other, own), earlier));
  const Array chosen = less(sum(astype(before, DType::i32), -1), Array(static_cast<int>(o.active)));
  const Array kept = where(chosen, p, zeros_like(p));
  return o.renormalise ? kept / expand_dims(sum(kept, -1), -1) : kept;
}

Array Experts::operator()(const Array& x, const ExpertOptions& o, Activation activation) const {
  const nn::ModuleScope scope(*this, "Experts");
  const DType wide = nn::wide(x.dtype());
  const auto product = [](const char* indices, const Array& a, const Array& b) {
    return einsum(indices, a, astype(b, a.dtype()));
  };
  const Array h = activate(product("bsd,edf->ebsf", x, gate.kernel), activation) *
                  product("bsd,edf->ebsf", x, up.kernel);
  const Array each = astype(product("ebsf,efd->ebsd", h, down.kernel), wide);
  const Array w = expand_dims(moveaxis(weights(x, o), -1, 0), -1);  // (E, B, S, 1)
  Array y = astype(sum(each * w, 0), x.dtype());
  if (shared) y = y + strata::nn::sigmoid((*shared_gate)(x)) * (*shared)(x, activation);
  return scope.returns(y, x);
}

}  // namespace strata::model::decoder
