// How the functions of numpy/elementwise.h, trigonometric.h, floating.h and integers.h are called.
#include "strata/api/golden.h"

namespace strata {
namespace {

#define STRATA_UNARY(name) STRATA_GOLDEN("numpy." #name, numpy::name(c.x(0)))
#define STRATA_BINARY(name) STRATA_GOLDEN("numpy." #name, numpy::name(c.x(0), c.x(1)))

STRATA_UNARY(i0);
STRATA_UNARY(sin);
STRATA_UNARY(cos);
STRATA_UNARY(tan);
STRATA_UNARY(arcsin);
STRATA_UNARY(arccos);
STRATA_UNARY(arctan);
STRATA_UNARY(sinh);
STRATA_UNARY(cosh);
STRATA_UNARY(tanh);
STRATA_UNARY(arcsinh);
STRATA_UNARY(arccosh);
STRATA_UNARY(arctanh);
STRATA_UNARY(asin);
STRATA_UNARY(acos);
STRATA_UNARY(atan);
STRATA_UNARY(asinh);
STRATA_UNARY(acosh);
STRATA_UNARY(atanh);
STRATA_UNARY(sinc);
STRATA_UNARY(exp);
STRATA_UNARY(exp2);
STRATA_UNARY(expm1);
STRATA_UNARY(log);
STRATA_UNARY(log2);
STRATA_UNARY(log10);
STRATA_UNARY(log1p);
STRATA_UNARY(sqrt);
STRATA_UNARY(cbrt);
STRATA_UNARY(deg2rad);
STRATA_UNARY(rad2deg);
STRATA_UNARY(degrees);
STRATA_UNARY(radians);
STRATA_UNARY(abs);
STRATA_UNARY(absolute);
STRATA_UNARY(fabs);
STRATA_UNARY(positive);
STRATA_UNARY(negative);
STRATA_UNARY(sign);
STRATA_UNARY(square);
STRATA_UNARY(reciprocal);
STRATA_UNARY(floor);
STRATA_UNARY(ceil);
STRATA_UNARY(trunc);
STRATA_UNARY(rint);
STRATA_UNARY(isfinite);
STRATA_UNARY(isinf);
STRATA_UNARY(isnan);
STRATA_UNARY(isneginf);
STRATA_UNARY(isposinf);
STRATA_UNARY(signbit);
STRATA_UNARY(logical_not);
STRATA_UNARY(conj);
STRATA_UNARY(conjugate);
STRATA_UNARY(real);
STRATA_UNARY(imag);
STRATA_UNARY(isreal);
STRATA_UNARY(iscomplex);
STRATA_UNARY(spacing);
STRATA_UNARY(invert);
STRATA_UNARY(bitwise_not);
STRATA_UNARY(bitwise_invert);
STRATA_UNARY(bitwise_count);
STRATA_UNARY(frexp);
STRATA_UNARY(modf);
STRATA_BINARY(add);
STRATA_BINARY(multiply);
STRATA_BINARY(subtract);
STRATA_BINARY(divide);
STRATA_BINARY(true_divide);
STRATA_BINARY(floor_divide);
STRATA_BINARY(remainder);
STRATA_BINARY(mod);
STRATA_BINARY(fmod);
STRATA_BINARY(maximum);
STRATA_BINARY(minimum);
STRATA_BINARY(fmax);
STRATA_BINARY(fmin);
STRATA_BINARY(divmod);
STRATA_BINARY(equal);
STRATA_BINARY(not_equal);
STRATA_BINARY(less);
STRATA_BINARY(less_equal);
STRATA_BINARY(greater);
STRATA_BINARY(greater_equal);
STRATA_BINARY(logical_and);
STRATA_BINARY(logical_or);
STRATA_BINARY(logical_xor);
STRATA_BINARY(bitwise_and);
STRATA_BINARY(bitwise_or);
STRATA_BINARY(bitwise_xor);
STRATA_BINARY(left_shift);
STRATA_BINARY(right_shift);
STRATA_BINARY(bitwise_left_shift);
STRATA_BINARY(bitwise_right_shift);
STRATA_BINARY(power);
STRATA_BINARY(pow);
STRATA_BINARY(float_power);
STRATA_BINARY(arctan2);
STRATA_BINARY(atan2);
STRATA_BINARY(hypot);
STRATA_BINARY(logaddexp);
STRATA_BINARY(logaddexp2);
STRATA_BINARY(copysign);
STRATA_BINARY(nextafter);
STRATA_BINARY(heaviside);
STRATA_BINARY(ldexp);
STRATA_BINARY(gcd);
STRATA_BINARY(lcm);
STRATA_BINARY(array_equiv);

STRATA_GOLDEN("numpy.angle", numpy::angle(c.x(0), c.flag("deg")));
STRATA_GOLDEN("numpy.round", numpy::round(c.x(0), c.integer("decimals")));
STRATA_GOLDEN("numpy.around", numpy::around(c.x(0), c.integer("decimals")));
STRATA_GOLDEN("numpy.clip", numpy::clip(c.x(0), c.x(1), c.x(2)));
STRATA_GOLDEN("numpy.where", numpy::where(c.x(0), c.x(1), c.x(2)));
STRATA_GOLDEN("numpy.array_equal", numpy::array_equal(c.x(0), c.x(1), c.flag("equal_nan")));

numpy::Closeness closeness(const testing::Call& c) {
  return {.rtol = c.number("rtol", 1e-5),
          .atol = c.number("atol", 1e-8),
          .equal_nan = c.flag("equal_nan")};
}
STRATA_GOLDEN("numpy.isclose", numpy::isclose(c.x(0), c.x(1), closeness(c)));
STRATA_GOLDEN("numpy.allclose", numpy::allclose(c.x(0), c.x(1), closeness(c)));

std::optional<double> number(const testing::Call& c, const char* name) {
  return c.has(name) ? std::optional(c.number(name)) : std::nullopt;
}
STRATA_GOLDEN("numpy.nan_to_num", numpy::nan_to_num(c.x(0), {.nan = c.number("nan"),
                                                             .posinf = number(c, "posinf"),
                                                             .neginf = number(c, "neginf")}));

}  // namespace
}  // namespace strata
