// Functions about the error function and the normal distribution.
#pragma once

#include "strata/api/numpy.h"

namespace strata::scipy::special {

/// exp(x^2) erfc(x); complex numbers by wofz(i x).
Array erfcx(const Operand& x);
/// Dawson's integral exp(-x^2) times that of exp(t^2) from 0. Source: Cephes, dawsn.c.
Array dawsn(const Operand& x);
/// The Faddeeva function exp(-z^2) erfc(-i z), complex. Source: Weideman, "Computation of the
/// complex error function" (1994), of 32 terms, which is good to about 1e-12.
Array wofz(const Operand& z);
/// Where the normal distribution is p; f32 and f64. Source: Cephes, ndtri.c.
Array ndtri(const Operand& p);
/// Owen's T: the integral of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) / (2 pi) from 0 to a; f64, or f32
/// for every narrower dtype, as upstream's result is. Source: Patefield and Tandy (2000), method
/// T5.
Array owens_t(const Operand& h, const Operand& a);

}  // namespace strata::scipy::special
