#include "strata/model/decoder/feed_forward.h"

#include "strata/api/nn.h"
#include "strata/api/numpy.h"

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

}  // namespace strata::model::decoder
