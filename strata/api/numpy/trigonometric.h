// Trigonometric functions, hyperbolic ones, and their inverses. Integers become floats first.
#pragma once

#include "strata/api/array.h"

namespace strata::numpy {

Array cos(const Operand& x);
Array sin(const Operand& x);
Array tan(const Operand& x);
Array arccos(const Operand& x);
Array arcsin(const Operand& x);
Array arctan(const Operand& x);
/// The angle of the point (x, y), in (-pi, pi].
Array arctan2(const Operand& y, const Operand& x);
Array cosh(const Operand& x);
Array sinh(const Operand& x);
Array tanh(const Operand& x);
Array arccosh(const Operand& x);
Array arcsinh(const Operand& x);
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
Array degrees(const Operand& x);
Array radians(const Operand& x);
inline Array rad2deg(const Operand& x) { return degrees(x); }
inline Array deg2rad(const Operand& x) { return radians(x); }
/// sqrt(x^2 + y^2) without overflow.
Array hypot(const Operand& x, const Operand& y);

}  // namespace strata::numpy
