#include "strata/api/numpy/trigonometric.h"

#include <numbers>

#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::as_inexact;
using internal::Site;

template <class F>
Array analytic(const Operand& x, F f) {
  Site site(x);
  return internal::unary(as_inexact(x), f);
}

}  // namespace

Array cos(const Operand& x) { return analytic(x, op::cos); }
Array sin(const Operand& x) { return analytic(x, op::sin); }
Array tan(const Operand& x) { return analytic(x, op::tan); }
Array tanh(const Operand& x) { return analytic(x, op::tanh); }
Array cosh(const Operand& x) { return analytic(x, "chlo.cosh"); }
Array sinh(const Operand& x) { return analytic(x, "chlo.sinh"); }
Array arccos(const Operand& x) { return analytic(x, "chlo.acos"); }
Array arcsin(const Operand& x) { return analytic(x, "chlo.asin"); }
Array arctan(const Operand& x) { return analytic(x, "chlo.atan"); }
Array arccosh(const Operand& x) { return analytic(x, "chlo.acosh"); }
Array arcsinh(const Operand& x) { return analytic(x, "chlo.asinh"); }
Array arctanh(const Operand& x) { return analytic(x, "chlo.atanh"); }

Array arctan2(const Operand& y, const Operand& x) {
  Site site(y);
  internal::require_real("arctan2", y);
  internal::require_real("arctan2", x);
  return internal::binary("arctan2", y, x, op::atan2, {.to_inexact = true});
}

Array sinc(const Operand& operand) {
  Site site(operand);
  const Array x = as_inexact(operand) * pi;
  const Array zero = x == 0;
  // The first terms of the series, so that the first two derivatives at 0 are right.
  return where(zero, 1 - square(x) / 6, sin(where(zero, 1, x)) / where(zero, 1, x));
}

Array degrees(const Operand& x) {
  Site site(x);
  internal::require_real("degrees", x);
  return as_inexact(x) * (180 / pi);
}
Array radians(const Operand& x) {
  Site site(x);
  internal::require_real("radians", x);
  return as_inexact(x) * (pi / 180);
}

Array hypot(const Operand& operand, const Operand& other) {
  Site site(operand);
  internal::require_real("hypot", operand);
  internal::require_real("hypot", other);
  const std::vector<Array> both = internal::broadcast_promoted("hypot", {operand, other});
  const Array x = abs(as_inexact(both[0])), y = abs(as_inexact(both[1])), large = maximum(x, y);
  const Array zero = large == 0, ratio = minimum(x, y) / where(zero, ones_like(large), large);
  const Array length = where(zero, zeros_like(large), large * sqrt(1 + square(ratio)));
  return internal::cast(where(isinf(x) | isinf(y), inf, length),
                        {x.dtype(), operand->weak() && other->weak()});
}
Array angle(const Operand& z, bool deg) {
  Site site(z);
  // A real scalar counts as one of the default dtype, as in JAX.
  const bool by_default = !is_inexact(z->dtype()) || (!is_complex(z->dtype()) && z->ndim() == 0);
  auto part = [&](const Array& p) {
    return by_default ? internal::cast(p, {canonical(DType::f64, x64_enabled()), false}) : p;
  };
  const Array result = arctan2(part(imag(z)), part(real(z)));
  return deg ? degrees(result) : result;
}

}  // namespace strata::numpy
