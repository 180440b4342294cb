#include "strata/nn/linear.h"

namespace strata::nn {

Linear Linear::init(const Array& key, std::int64_t in_features, std::int64_t out_features,
                    const LinearOptions& o) {
  const auto [kernel_key, bias_key] = random::split2(key);
  Linear out{o.kernel_init(kernel_key, {in_features, out_features}, o.param_dtype), {}};
  if (o.use_bias) out.bias = o.bias_init(bias_key, {out_features}, o.param_dtype);
  return out;
}

Array Linear::operator()(const Array& x) const {
  Array y = matmul(x, kernel);
  return bias ? y + *bias : y;
}

}  // namespace strata::nn
