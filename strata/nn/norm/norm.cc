#include "strata/nn/norm/norm.h"

#include "strata/api/lax.h"
#include "strata/nn/dtypes.h"
#include "strata/nn/module.h"
#include "strata/nn/wide.h"

namespace strata::nn {

Array rms_norm(const Array& x, const Array& weight, double epsilon) {
  Array in_full = astype(x, wide(x.dtype()));
  Array scale = lax::rsqrt(mean(in_full * in_full, {.axis = -1, .keepdims = true}) + epsilon);
  return astype(in_full * scale, x.dtype()) * weight;
}

RMSNorm::RMSNorm(std::int64_t num_features, Rngs& rngs, const RMSNormOptions& o)
    : scale(detail::scale_of(o, num_features, rngs)),
      epsilon(o.epsilon),
      reduction_axes(given_axes("RMSNorm", o.reduction_axes)),
      feature_axes(given_axes("RMSNorm", o.feature_axes)),
      statistics(detail::statistics_of(o)) {}

RMSNorm::RMSNorm(Param scale, double epsilon)
    : scale(std::move(scale)), epsilon(epsilon), round_before_scale(true) {}

RMSNorm RMSNorm::init(const Array& key, std::int64_t num_features, double epsilon,
                      const Initializer& scale_init, DType param_dtype) {
  return RMSNorm(scale_init(key, {num_features}, param_dtype), epsilon);
}

Array RMSNorm::operator()(const Array& input, const NormCall& call) const {
  const ModuleScope scope(*this, "RMSNorm");
  const auto reduced = norm_axes("RMSNorm", reduction_axes, input);
  const auto features = norm_axes("RMSNorm", feature_axes, input);
  Array x = input, s = value_or_none(scale);
  check_features("RMSNorm", x, features, "scale has", s);
  if (round_before_scale) {
    if (call.mask)
      strata::internal::fail("RMSNorm", "a norm that rounds before its scale takes no mask");
    return scope.returns(rms_norm(x, s, epsilon), input);
  }
  promote_dtype({&x, &s}, statistics.dtype);
  return scope.returns(normalize(x, moments(x, reduced, statistics, call.mask, false), s, Array(),
                                 {.reduction_axes = reduced,
                                  .feature_axes = features,
                                  .epsilon = epsilon,
                                  .dtype = statistics.dtype}),
                       input);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::RMSNorm)
