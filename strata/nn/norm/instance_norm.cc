#include "strata/nn/norm/instance_norm.h"

#include <algorithm>

#include "strata/nn/dtypes.h"
#include "strata/nn/module.h"

namespace strata::nn {

InstanceNorm::InstanceNorm(std::int64_t num_features, Rngs& rngs, const InstanceNormOptions& o)
    : epsilon(o.epsilon),
      feature_axes(given_axes("InstanceNorm", o.feature_axes)),
      statistics(detail::statistics_of(o)) {
  scale = detail::scale_of(o, num_features, rngs);
  bias = detail::bias_of(o, num_features, rngs);
}

Array InstanceNorm::operator()(const Array& input, const NormCall& call) const {
  const ModuleScope scope(*this, "InstanceNorm");
  const auto features = norm_axes("InstanceNorm", feature_axes, input);
  if (!features.empty() && features[0] == 0)
    strata::internal::fail("InstanceNorm", "a feature axis of {} is 0, which is the batch's",
                           strata::internal::describe(input.type()));
  std::vector<std::int64_t> reduced;
  for (std::int64_t i = 1; i < input.ndim(); ++i)
    if (std::find(features.begin(), features.end(), i) == features.end()) reduced.push_back(i);
  Array x = input, s = value_or_none(scale), b = value_or_none(bias);
  check_features("InstanceNorm", x, features, "scale has", s);
  check_features("InstanceNorm", x, features, "bias has", b);
  promote_dtype({&x, &s, &b}, statistics.dtype);
  return scope.returns(normalize(x, moments(x, reduced, statistics, call.mask), s, b,
                                 {.reduction_axes = reduced,
                                  .feature_axes = features,
                                  .epsilon = epsilon,
                                  .dtype = statistics.dtype}),
                       input);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::InstanceNorm)
