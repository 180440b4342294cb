// Exponential, sine, cosine and Fresnel integrals, and the dilogarithm.
#pragma once

#include "strata/api/numpy.h"

namespace strata::scipy::special {

/// The principal value of the integral of exp(t) / t up to x; -inf at 0, where upstream has NaN.
/// Source: Cephes, ei.c.
Array expi(const Operand& x);
/// The integral of exp(-x t) / t^n from 1 on, NaN below 0; n is a number >= 0. Differentiates by x
/// alone, twice in reverse. Where x is 0 it is 1 / (n - 1) for n >= 2 (upstream: 1 / n), and 0 at
/// infinity (upstream: NaN). Source: Cephes, expn.c.
Array expn(const Operand& n, const Operand& x);
/// expn(1, x)
Array exp1(const Operand& x);

/// Si and Ci: the integrals of sin(t) / t from 0, and of cos(t) / t from infinity. Source: Cephes,
/// sici.c.
[[nodiscard]] std::pair<Array, Array> sici(const Operand& x);
/// S and C: the integrals of sin and cos of pi t^2 / 2 from 0. Source: Cephes, fresnl.c.
[[nodiscard]] std::pair<Array, Array> fresnel(const Operand& x);
/// The integral of -log(t) / (t - 1) from 1; f32 and f64. Source: Cephes, spence.c.
Array spence(const Operand& x);

}  // namespace strata::scipy::special
