#include "strata/api/nn.h"

#include <numbers>

#include "strata/api/compose.h"
#include "strata/api/lax.h"

namespace strata::nn {
namespace {
using internal::Site;
/// x as floats.
Array as_inexact(const Array& x) { return internal::cast(x, internal::inexact({x.dtype(), x.weak()})); }
}  // namespace

Array relu(const Operand& x) { Site site(x); return where(x.array <= 0, zeros_like(x), x); }
Array leaky_relu(const Operand& operand, double slope) {
  Site site(operand);
  const Array x = as_inexact(operand);
  return where(x >= 0, x, slope * x);
}
Array sigmoid(const Operand& x) { return lax::logistic(x); }
Array log_sigmoid(const Operand& x) { Site site(x); return -softplus(-x.array); }
Array softplus(const Operand& x) { Site site(x); return logaddexp(x, 0.0f); }
Array silu(const Operand& operand) {
  Site site(operand);
  const Array x = as_inexact(operand);
  return x * sigmoid(x);
}
Array gelu(const Operand& operand, bool approximate) {
  Site site(operand);
  const Array x = as_inexact(operand);
  if (!approximate) return 0.5 * x * (erf(x * std::numbers::sqrt2 / 2) + 1);
  const Array inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * power(x, 3));
  return x * (0.5 * (1.0 + tanh(inner)));
}
Array elu(const Operand& operand, double alpha) {
  Site site(operand);
  const Array x = as_inexact(operand);
  return where(x > 0, x, alpha * expm1(where(x > 0, 0.0, x)));
}
Array softmax(const Operand& operand, const Axes& axis) {
  Site site(operand);
  const Array x = as_inexact(operand);
  const Array e = exp(x - lax::stop_gradient(max(x, {.axis = axis, .keepdims = true})));
  return e / sum(e, {.axis = axis, .keepdims = true});
}
Array log_softmax(const Operand& operand, const Axes& axis) {
  Site site(operand);
  const Array x = as_inexact(operand);
  const Array shifted = x - lax::stop_gradient(max(x, {.axis = axis, .keepdims = true}));
  return shifted - log(sum(exp(shifted), {.axis = axis, .keepdims = true}));
}
Array one_hot(const Operand& x, std::int64_t num_classes, DType dtype) {
  Site site(x);
  if (!is_integer(x->dtype())) internal::fail("one_hot", "classes are integers, got {}", internal::describe(x->type()));
  return (expand_dims(x, -1) == arange(num_classes, x->weak() ? int32 : x->dtype())).astype(dtype);
}
Array standardize(const Operand& operand, const Axes& axis, double epsilon) {
  Site site(operand);
  const Array x = as_inexact(operand);
  const Array centred = x - mean(x, {.axis = axis, .keepdims = true});
  return centred * lax::rsqrt(mean(square(centred), {.axis = axis, .keepdims = true}) + epsilon);
}

}  // namespace strata::nn
