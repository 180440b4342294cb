#include "strata/nn/norm/batch_norm.h"

#include "strata/api/lax.h"
#include "strata/nn/dtypes.h"
#include "strata/nn/module.h"

namespace strata::nn {

BatchNorm::BatchNorm(std::int64_t num_features, Rngs& rngs, const BatchNormOptions& o)
    : mean(numpy::zeros({num_features}, DType::f32)),
      var(numpy::ones({num_features}, DType::f32)),
      axis(o.axis),
      momentum(o.momentum),
      epsilon(o.epsilon),
      use_running_average(o.use_running_average),
      statistics(detail::statistics_of(o)) {
  scale = detail::scale_of(o, num_features, rngs);
  bias = detail::bias_of(o, num_features, rngs);
}

bool BatchNorm::by_averages(const BatchNormCall& call) const {
  if (call.use_running_average) return *call.use_running_average;
  if (use_running_average) return *use_running_average;
  strata::internal::fail("BatchNorm",
                         "nothing says whether to normalise by the batch or by running averages: "
                         "give use_running_average to the constructor or to the call");
}

Array BatchNorm::operator()(const Array& x, const BatchNormCall& call) {
  const ModuleScope scope(*this, "BatchNorm");
  return scope.returns(apply(x, call, by_averages(call) ? nullptr : this), x);
}

Array BatchNorm::operator()(const Array& x, const BatchNormCall& call) const {
  const ModuleScope scope(*this, "BatchNorm");
  if (!by_averages(call))
    strata::internal::fail("BatchNorm",
                           "the layer is const, but normalising by the batch moves its running "
                           "averages: give use_running_average = true, or a layer to change");
  return scope.returns(apply(x, call, nullptr), x);
}

Array BatchNorm::apply(const Array& input, const BatchNormCall& call, BatchNorm* changed) const {
  const auto features = norm_axes("BatchNorm", {axis}, input);
  std::vector<std::int64_t> reduced;
  for (std::int64_t i = 0; i < input.ndim(); ++i)
    if (i != features[0]) reduced.push_back(i);
  Array x = input, s = value_or_none(scale), b = value_or_none(bias);
  Moments m{mean, var};
  check_features("BatchNorm", x, features, "running mean has", m.mean);
  promote_dtype({&x, &m.mean, &m.var, &s, &b}, statistics.dtype);
  if (changed) {
    m = moments(x, reduced, statistics, call.mask);
    const auto moved = [this](const BatchStat& average, const Array& now) {
      return astype(lax::stop_gradient(momentum * average + (1.0 - momentum) * now),
                    average.dtype());
    };
    changed->mean = moved(mean, m.mean);
    changed->var = moved(var, m.var);
  }
  return normalize(x, m, s, b,
                   {.reduction_axes = reduced,
                    .feature_axes = features,
                    .epsilon = epsilon,
                    .dtype = statistics.dtype});
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::BatchNorm)
