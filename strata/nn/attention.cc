#include "strata/nn/attention.h"

#include <cmath>

#include "strata/api/lax.h"
#include "strata/base/error.h"

namespace strata::nn {

Array causal_attention(const Array& q, const Array& k, const Array& v) {
  std::int64_t batch = q.shape(0), length = q.shape(1), heads = q.shape(2), dim = q.shape(3), keys = k.shape(1), groups = k.shape(2);
  if (heads % groups != 0) throw Error("causal_attention", "{} query heads do not divide into {} key heads", heads, groups);
  Array grouped = reshape(q, {batch, length, groups, heads / groups, dim});
  Array scores = astype(einsum("bskgd,btkd->bkgst", grouped, k), DType::f32) / std::sqrt(static_cast<double>(dim));
  Array visible = greater_equal(expand_dims(arange(length), 1) + (keys - length), expand_dims(arange(keys), 0));
  Array masked = where(visible, scores, -1e30);
  Array exponentials = exp(masked - lax::stop_gradient(max(masked, {.axis = -1, .keepdims = true})));
  Array weights = astype(exponentials / sum(exponentials, {.axis = -1, .keepdims = true}), q.dtype());
  return reshape(einsum("bkgst,btkd->bskgd", weights, v), {batch, length, heads, dim});
}

Array swiglu(const Array& x, const Array& gate, const Array& up, const Array& down) {
  Array g = matmul(x, gate);
  return matmul(g * lax::logistic(g) * matmul(x, up), down);
}

}  // namespace strata::nn
