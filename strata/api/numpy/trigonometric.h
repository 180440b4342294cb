// Trigonometric functions, hyperbolic ones, and their inverses. Integers become floats first.
#pragma once

#include "strata/api/array.h"

namespace strata::numpy {

/// The cosine of x in radians.
Array cos(const Operand& x);
/// The sine of x in radians.
Array sin(const Operand& x);
/// The tangent of x in radians.
Array tan(const Operand& x);
/// The angle in [0, pi] whose cosine is x; NaN outside of [-1, 1].
Array arccos(const Operand& x);
/// The angle in [-pi/2, pi/2] whose sine is x; NaN outside of [-1, 1].
Array arcsin(const Operand& x);
/// The angle in (-pi/2, pi/2) whose tangent is x.
Array arctan(const Operand& x);
/// The angle of the point (x, y), in (-pi, pi].
Array arctan2(const Operand& y, const Operand& x);
/// (exp(x) + exp(-x)) / 2
Array cosh(const Operand& x);
/// (exp(x) - exp(-x)) / 2
Array sinh(const Operand& x);
/// sinh(x) / cosh(x)
Array tanh(const Operand& x);
/// The number at least 0 whose hyperbolic cosine is x; NaN below 1.
Array arccosh(const Operand& x);
/// The inverse of sinh.
Array arcsinh(const Operand& x);
/// The inverse of tanh; NaN outside of [-1, 1].
Array arctanh(const Operand& x);
inline Array acos(const Operand& x) { return arccos(x); }
inline Array asin(const Operand& x) { return arcsin(x); }
inline Array atan(const Operand& x) { return arctan(x); }
inline Array atan2(const Operand& y, const Operand& x) { return arctan2(y, x); }
inline Array acosh(const Operand& x) { return arccosh(x); }
inline Array asinh(const Operand& x) { return arcsinh(x); }
inline Array atanh(const Operand& x) { return arctanh(x); }
/// sin(pi x) / (pi x), 1 at 0.
Array sinc(const Operand& x);
/// Radians as degrees.
Array degrees(const Operand& x);
/// Degrees as radians.
Array radians(const Operand& x);
inline Array rad2deg(const Operand& x) { return degrees(x); }
inline Array deg2rad(const Operand& x) { return radians(x); }
/// sqrt(x^2 + y^2) without overflow.
Array hypot(const Operand& x, const Operand& y);
/// The angle of complex numbers to the positive real axis, in radians, or in degrees.
Array angle(const Operand& z, bool deg = false);

}  // namespace strata::numpy

namespace strata {

using numpy::acos;
using numpy::acosh;
using numpy::angle;
using numpy::arccos;
using numpy::arccosh;
using numpy::arcsin;
using numpy::arcsinh;
using numpy::arctan;
using numpy::arctan2;
using numpy::arctanh;
using numpy::asin;
using numpy::asinh;
using numpy::atan;
using numpy::atan2;
using numpy::atanh;
using numpy::cos;
using numpy::cosh;
using numpy::deg2rad;
using numpy::degrees;
using numpy::hypot;
using numpy::rad2deg;
using numpy::radians;
using numpy::sin;
using numpy::sinc;
using numpy::sinh;
using numpy::tan;
using numpy::tanh;

}  // namespace strata
