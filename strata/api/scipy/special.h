// jax.scipy.special. Operands are promoted to floats and broadcast.
#pragma once

#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/scipy/error_functions.h"
#include "strata/api/scipy/exponential_integrals.h"
#include "strata/api/scipy/gamma.h"
#include "strata/api/scipy/hypergeometric.h"
#include "strata/api/scipy/sequences.h"

namespace strata::scipy::special {

using nn::log_softmax;
using nn::softmax;
using numpy::logsumexp;

/// The gamma distribution of shape a below x, and above it; the beta distribution of a and b below
/// x (lax/incomplete.h).
Array gammainc(const Operand& a, const Operand& x);
/// The regularised upper incomplete gamma function, 1 - gammainc(a, x).
Array gammaincc(const Operand& a, const Operand& x);
/// The regularised incomplete beta function.
Array betainc(const Operand& a, const Operand& b, const Operand& x);
/// gamma(a) gamma(b) / gamma(a + b), and the logarithm of its magnitude.
Array beta(const Operand& a, const Operand& b);
/// The logarithm of |gamma(a) gamma(b) / gamma(a + b)|.
Array betaln(const Operand& a, const Operand& b);
/// Hurwitz's zeta function.
Array zeta(const Operand& x, const Operand& q);

/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
Array erf(const Operand& x);
/// 1 - erf(x), exact for large x.
Array erfc(const Operand& x);
/// The inverse of erf; infinite at -1 and 1.
Array erfinv(const Operand& x);
/// The normal distribution below x, and its logarithm; f32 and f64.
Array ndtr(const Operand& x);
/// The logarithm of the normal distribution function, exact for very negative x.
Array log_ndtr(const Operand& x);

/// 1 / (1 + exp(-x)), and its inverse log(x / (1 - x)).
Array expit(const Operand& x);
/// log(x / (1 - x)), the inverse of expit.
Array logit(const Operand& x);
/// x log(y) and x log(1 + y), 0 where x is 0.
Array xlogy(const Operand& x, const Operand& y);
/// x log1p(y), 0 where x is 0.
Array xlog1py(const Operand& x, const Operand& y);
/// -x log(x); p log(p / q); p log(p / q) - p + q
Array entr(const Operand& x);
/// p log(p / q): 0 where p is 0 and q is not negative, infinite where one is negative or q is 0.
Array rel_entr(const Operand& p, const Operand& q);
/// p log(p / q) - p + q, infinite where one is negative.
Array kl_div(const Operand& p, const Operand& q);
/// (x^l - 1) / l, log(x) for l = 0; and that function of 1 + x.
Array boxcox(const Operand& x, const Operand& lambda);
/// Box and Cox's transform of 1 + x: ((1 + x)^lambda - 1) / lambda, log1p(x) where lambda is 0.
Array boxcox1p(const Operand& x, const Operand& lambda);

/// Modified Bessel functions of order 0 and 1, and these times exp(-|x|).
Array i0(const Operand& x);
/// exp(-|x|) times the modified Bessel function of order 0.
Array i0e(const Operand& x);
/// The modified Bessel function of order 1.
Array i1(const Operand& x);
/// exp(-|x|) times the modified Bessel function of order 1.
Array i1e(const Operand& x);

}  // namespace strata::scipy::special
