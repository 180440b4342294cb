// The gamma function and its kin (jax.scipy.special).
#pragma once

#include "strata/api/array.h"

namespace strata::scipy::special {

/// The gamma function.
Array gamma(const Operand& x);
/// The sign of the gamma function.
Array gammasgn(const Operand& x);
/// log |gamma(x)|
Array gammaln(const Operand& x);
/// log gamma(x) for positive x, else NaN: the logarithm of the gamma function is complex there.
Array loggamma(const Operand& x);
/// The derivative of log gamma(x).
Array digamma(const Operand& x);
/// The n-th derivative of digamma; n is an integer.
Array polygamma(const Operand& n, const Operand& x);
/// log gamma of dimension d.
Array multigammaln(const Operand& x, std::int64_t d);
/// n! as a float, gamma(n + 1); 0 for negative n.
Array factorial(const Operand& n);
/// gamma(z + m) / gamma(z)
Array poch(const Operand& z, const Operand& m);

namespace detail {
/// x as floats. Throws Error in the name of `name` for complex numbers.
Array real_float(const char* name, const Array& x);
struct Pair {
  Array x, y;
};
/// Two such operands, promoted and broadcast.
Pair real_pair(const char* name, const Array& x, const Array& y);
}  // namespace detail

}  // namespace strata::scipy::special
