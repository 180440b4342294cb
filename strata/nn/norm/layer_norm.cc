#include "strata/nn/norm/layer_norm.h"

#include "strata/nn/dtypes.h"
#include "strata/nn/module.h"

namespace strata::nn {

LayerNorm::LayerNorm(std::int64_t num_features, Rngs& rngs, const LayerNormOptions& o)
    : epsilon(o.epsilon),
      reduction_axes(given_axes("LayerNorm", o.reduction_axes)),
      feature_axes(given_axes("LayerNorm", o.feature_axes)),
      statistics(detail::statistics_of(o)) {
  scale = detail::scale_of(o, num_features, rngs);
  bias = detail::bias_of(o, num_features, rngs);
}

Array LayerNorm::operator()(const Array& input, const NormCall& call) const {
  const ModuleScope scope(*this, "LayerNorm");
  const auto reduced = norm_axes("LayerNorm", reduction_axes, input);
  const auto features = norm_axes("LayerNorm", feature_axes, input);
  Array x = input, s = value_or_none(scale), b = value_or_none(bias);
  check_features("LayerNorm", x, features, "scale has", s);
  check_features("LayerNorm", x, features, "bias has", b);
  promote_dtype({&x, &s, &b}, statistics.dtype);
  return scope.returns(normalize(x, moments(x, reduced, statistics, call.mask), s, b,
                                 {.reduction_axes = reduced,
                                  .feature_axes = features,
                                  .epsilon = epsilon,
                                  .dtype = statistics.dtype}),
                       input);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::LayerNorm)
