// How elementwise operations of lax.h and the functions of scipy/special.h are called.
#include "strata/api/golden.h"
#include "strata/api/scipy/special.h"

namespace strata {
namespace {

namespace special = scipy::special;

#define STRATA_UNARY(name) STRATA_GOLDEN("lax." #name, lax::name(c.x(0)))
#define STRATA_BINARY(name) STRATA_GOLDEN("lax." #name, lax::name(c.x(0), c.x(1)))
#define STRATA_SPECIAL(name) STRATA_GOLDEN("scipy.special." #name, special::name(c.x(0)))
#define STRATA_SPECIAL_2(name) STRATA_GOLDEN("scipy.special." #name, special::name(c.x(0), c.x(1)))

STRATA_UNARY(acos);
STRATA_UNARY(acosh);
STRATA_UNARY(asin);
STRATA_UNARY(asinh);
STRATA_UNARY(atan);
STRATA_UNARY(atanh);
STRATA_UNARY(cbrt);
STRATA_UNARY(cos);
STRATA_UNARY(cosh);
STRATA_UNARY(exp);
STRATA_UNARY(exp2);
STRATA_UNARY(expm1);
STRATA_UNARY(log);
STRATA_UNARY(log1p);
STRATA_UNARY(logistic);
STRATA_UNARY(reciprocal);
STRATA_UNARY(rsqrt);
STRATA_UNARY(sin);
STRATA_UNARY(sinh);
STRATA_UNARY(sqrt);
STRATA_UNARY(tan);
STRATA_UNARY(tanh);
STRATA_UNARY(bessel_i0e);
STRATA_UNARY(bessel_i1e);
STRATA_UNARY(ceil);
STRATA_UNARY(digamma);
STRATA_UNARY(erf);
STRATA_UNARY(erf_inv);
STRATA_UNARY(erfc);
STRATA_UNARY(floor);
STRATA_UNARY(is_finite);
STRATA_UNARY(lgamma);
STRATA_UNARY(abs);
STRATA_UNARY(neg);
STRATA_UNARY(sign);
STRATA_UNARY(square);
STRATA_UNARY(bitwise_not);
STRATA_UNARY(clz);
STRATA_UNARY(population_count);
STRATA_UNARY(real);
STRATA_UNARY(imag);
STRATA_UNARY(conj);
STRATA_BINARY(add);
STRATA_BINARY(sub);
STRATA_BINARY(mul);
STRATA_BINARY(div);
STRATA_BINARY(max);
STRATA_BINARY(min);
STRATA_BINARY(rem);
STRATA_BINARY(pow);
STRATA_BINARY(atan2);
STRATA_BINARY(nextafter);
STRATA_BINARY(eq);
STRATA_BINARY(ne);
STRATA_BINARY(lt);
STRATA_BINARY(le);
STRATA_BINARY(gt);
STRATA_BINARY(ge);
STRATA_BINARY(polygamma);
STRATA_BINARY(zeta);
STRATA_BINARY(bitwise_and);
STRATA_BINARY(bitwise_or);
STRATA_BINARY(bitwise_xor);
STRATA_BINARY(shift_left);
STRATA_BINARY(shift_right_arithmetic);
STRATA_BINARY(shift_right_logical);
STRATA_BINARY(complex);
STRATA_GOLDEN("lax.integer_pow", lax::integer_pow(c.x(0), c.integer("y")));

STRATA_SPECIAL(gammaln);
STRATA_SPECIAL(loggamma);
STRATA_SPECIAL(digamma);
STRATA_SPECIAL(erf);
STRATA_SPECIAL(erfc);
STRATA_SPECIAL(erfinv);
STRATA_SPECIAL(expit);
STRATA_SPECIAL(logit);
STRATA_SPECIAL(entr);
STRATA_SPECIAL(i0);
STRATA_SPECIAL(i0e);
STRATA_SPECIAL(i1);
STRATA_SPECIAL(i1e);
STRATA_SPECIAL(ndtr);
STRATA_SPECIAL(log_ndtr);
STRATA_SPECIAL(gamma);
STRATA_SPECIAL(gammasgn);
STRATA_SPECIAL(factorial);
STRATA_SPECIAL_2(xlogy);
STRATA_SPECIAL_2(xlog1py);
STRATA_SPECIAL_2(rel_entr);
STRATA_SPECIAL_2(kl_div);
STRATA_SPECIAL_2(beta);
STRATA_SPECIAL_2(betaln);
STRATA_SPECIAL_2(poch);
STRATA_SPECIAL_2(boxcox);
STRATA_SPECIAL_2(boxcox1p);
STRATA_SPECIAL_2(polygamma);
STRATA_SPECIAL_2(zeta);
STRATA_GOLDEN("scipy.special.multigammaln", special::multigammaln(c.x(0), c.integer("d")));
STRATA_GOLDEN("scipy.special.softmax", special::softmax(c.x(0), c.axes()));
STRATA_GOLDEN("scipy.special.log_softmax", special::log_softmax(c.x(0), c.axes()));
STRATA_GOLDEN("scipy.special.logsumexp", special::logsumexp(c.x(0), {.axis = c.axes()}));

}  // namespace
}  // namespace strata
