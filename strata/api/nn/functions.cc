#include "strata/api/nn/functions.h"

#include <cmath>
#include <numbers>

#include "strata/api/lax/operations.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/trigonometric.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::nn {
namespace {
using internal::as_inexact;
using internal::describe;
using internal::fail;
using internal::Site;
/// The same where arithmetic with a C++ float would convert integers: weakly typed then.
Array as_weak_inexact(const Array& x) {
  return is_inexact(x.dtype()) ? x
                               : internal::cast(x, {internal::inexact({x.dtype()}).dtype, true});
}

}  // namespace

Array relu(const Operand& x) {
  Site site(x);
  return where(x.array <= 0, 0, x);
}
Array relu6(const Operand& x) {
  Site site(x);
  return minimum(relu(x), 6.0);
}
Array hard_tanh(const Operand& x) {
  Site site(x);
  return where(x.array > 1, 1, where(x.array < -1, -1, x));
}
Array hard_sigmoid(const Operand& x) {
  Site site(x);
  return relu6(x.array + 3.0) / 6;
}
Array hard_silu(const Operand& operand) {
  Site site(operand);
  const Array x = as_weak_inexact(operand);
  return x * hard_sigmoid(x);
}
Array soft_sign(const Operand& operand) {
  Site site(operand);
  const Array x = is_bool(operand->dtype()) ? as_weak_inexact(operand) : as_inexact(operand);
  return x / (abs(x) + 1);
}
Array squareplus(const Operand& operand, const Operand& b) {
  Site site(operand);
  const Array x = as_inexact(operand);
  return (x + sqrt(square(x) + b)) / 2;
}
Array mish(const Operand& operand) {
  Site site(operand);
  const Array x = is_bool(operand->dtype()) ? as_weak_inexact(operand) : as_inexact(operand);
  return x * tanh(softplus(x));
}
Array sparse_plus(const Operand& operand) {
  Site site(operand);
  const Array x = as_weak_inexact(operand);
  return where(x <= -1, 0.0, where(x >= 1, x, square(x + 1) / 4));
}
Array sparse_sigmoid(const Operand& x) {
  Site site(x);
  return 0.5 * clip(x.array + 1.0, 0.0, 2.0);
}
Array log1mexp(const Operand& operand) {
  Site site(operand);
  const Array x = as_inexact(operand);
  // Each formula is exact where the other cancels.
  const Array small = x < std::numbers::ln2;
  return where(small, log(-expm1(where(small, -x, -1))), log1p(-exp(where(small, -1, -x))));
}
Array glu(const Operand& operand, std::int64_t axis) {
  Site site(operand);
  const Array& x = operand;
  const int dim = internal::axis_of("glu", axis, x.ndim());
  if (x.shape()[dim] % 2 != 0) fail("glu", "axis {} of {} has no halves", dim, describe(x.type()));
  const std::vector<Array> halves = split(x, 2, dim);
  return halves[0] * sigmoid(halves[1]);
}
Array logmeanexp(const Operand& x, const Reduce& options) {
  Site site(x);
  double count = 1;
  for (std::int64_t a : internal::axes_of("logmeanexp", options.axis, x->ndim()))
    count *= static_cast<double>(x->shape()[static_cast<int>(a)]);
  return logsumexp(x, options) - std::log(count);
}
Array leaky_relu(const Operand& operand, const Operand& slope) {
  Site site(operand);
  const Array x = as_weak_inexact(operand);
  return where(x >= 0, x, slope * x);
}
Array sigmoid(const Operand& x) {
  Site site(x);
  if (!is_inexact(x->dtype())) fail("sigmoid", "floats are needed, got {}", describe(x->type()));
  return lax::logistic(x);
}
Array log_sigmoid(const Operand& x) {
  Site site(x);
  if (is_bool(x->dtype())) fail("log_sigmoid", "numbers are needed, got {}", describe(x->type()));
  return -softplus(-x.array);
}
Array softplus(const Operand& x) {
  Site site(x);
  return logaddexp(x, 0);
}
Array silu(const Operand& x) {
  Site site(x);
  return x * sigmoid(x);
}
Array gelu(const Operand& operand, bool approximate) {
  Site site(operand);
  const Array x = as_inexact(operand);
  if (!approximate) return 0.5 * x * (erf(x * std::numbers::sqrt2 / 2) + 1);
  const Array inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * power(x, 3));
  return x * (0.5 * (1.0 + tanh(inner)));
}
Array elu(const Operand& operand, const Operand& alpha) {
  Site site(operand);
  const Array x = as_weak_inexact(operand);
  return where(x > 0, x, alpha * expm1(where(x > 0, 0.0, x)));
}
Array celu(const Operand& operand, const Operand& alpha) {
  Site site(operand);
  const Array x = as_weak_inexact(operand);
  return maximum(x, 0.0) + alpha * expm1(minimum(x, 0.0) / alpha);
}
Array selu(const Operand& x) {
  Site site(x);
  return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717);
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
Array one_hot(const Operand& x, std::int64_t num_classes, DType dtype, std::int64_t axis) {
  Site site(x);
  if (!is_integer(x->dtype())) fail("one_hot", "classes are integers, got {}", describe(x->type()));
  const int dim = internal::axis_of("one_hot", axis, x->ndim() + 1);
  std::vector<std::int64_t> along(static_cast<std::size_t>(x->ndim() + 1), 1);
  along[static_cast<std::size_t>(dim)] = num_classes;
  return (expand_dims(x, dim) == arange(num_classes, x->weak() ? int32 : x->dtype()).reshape(along))
      .astype(dtype);
}
Array standardize(const Operand& operand, const Axes& axis, double epsilon) {
  Site site(operand);
  const Array x = as_inexact(operand);
  const Array centred = x - mean(x, {.axis = axis, .keepdims = true});
  return centred * lax::rsqrt(mean(square(centred), {.axis = axis, .keepdims = true}) + epsilon);
}

}  // namespace strata::nn
