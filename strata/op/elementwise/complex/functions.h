// Functions of complex numbers as formulas in f64, within 4 ulp in each part; infinities, NaN,
// branch cuts and the signs of zeros as C99's Annex G and numpy have them. A row of an operation
// takes one as its split rule:
//
//   {.name = "stablehlo.sine", .split = complex_rules::unary<complex_rules::sine>, ...}
#pragma once

#include "strata/op/elementwise/complex/expression.h"

namespace strata::op::complex_rules {

// arithmetic.cc
Complex multiply(Complex z, Complex w);
/// The same, but with an infinite factor it is infinite where that says NaN (C99's Annex G).
Complex recovered_product(Complex z, Complex w);
Complex divide(Complex z, Complex w);
Complex square(Complex z);
/// The magnitude, without overflow on the way.
Real magnitude(Complex z);
/// The same within 0.51 ulp, of a number in the middle of f64's range.
Real close_magnitude(Complex z);
/// z / |z|; 0 at 0.
Complex sign(Complex z);
/// In the order of (re, im); NaN where either operand has one.
Complex maximum(Complex z, Complex w);
Complex minimum(Complex z, Complex w);
/// z < w and z <= w in that order; false where either has a NaN.
Truth less(Complex z, Complex w);
Truth less_or_equal(Complex z, Complex w);

// exponential.cc
Complex exponential(Complex z);
Complex exponential_minus_one(Complex z);
Complex log(Complex z);
Complex log_plus_one(Complex z);
Complex logistic(Complex z);

// power.cc
Complex power(Complex z, Complex w);

// root.cc
Complex sqrt(Complex z);
Complex rsqrt(Complex z);
Complex cbrt(Complex z);

// trigonometric.cc
Complex sine(Complex z);
Complex cosine(Complex z);
Complex tan(Complex z);
Complex sinh(Complex z);
Complex cosh(Complex z);
Complex tanh(Complex z);

// inverse.cc
Complex asin(Complex z);
Complex acos(Complex z);
Complex atan(Complex z);
Complex asinh(Complex z);
Complex acosh(Complex z);
Complex atanh(Complex z);
/// -i log((x + i y) / sqrt(x^2 + y^2)).
Complex atan2(Complex y, Complex x);

// ---- shared by the families --------------------------------------------------------------------
inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kNaN = __builtin_nan("");
inline constexpr double kBig = 0x1p500, kTiny = 0x1p-500, kDown = 0x1p-600, kUp = 0x1p600;

/// x scaled by a power of two into the middle of f64's range, and what brings it back. `x` is not
/// negative.
struct Scale {
  Real factor, back;
};
Scale scale_of(Real x);
/// e^x = value * power * power: finite as long as e^x times something below 1 may be.
struct Scaled {
  Real value, power;
};
Scaled scaled_exp(Real x);
/// In pairs of f64, for what cancels: e^x and e^x - 1 for |x| <= 700, and the sine, the cosine and
/// the cosine less 1 of an angle (beyond 2^20 as f64 has them).
struct PairExponential {
  Pair value, less_one;
};
PairExponential exp_pair(Real x);
loop::math::SineCosine<Real> sine_cosine(Real y);
/// more^2 + less^2 - rest to 2^-100 of itself, for more >= less >= 0 and a rest that is at most
/// twice the smaller of the sum and more^2.
Pair square_less(Real more, Real less, Real rest);

}  // namespace strata::op::complex_rules
