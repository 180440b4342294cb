// Constants under NumPy's names.
#pragma once

#include <limits>

namespace strata::numpy {

/// The ratio of a circle's circumference to its diameter.
inline constexpr double pi = 3.14159265358979323846;
/// The base of the natural logarithm.
inline constexpr double e = 2.71828182845904523536;
/// Euler's constant, 0.577...
inline constexpr double euler_gamma = 0.57721566490153286061;
/// Infinity.
inline constexpr double inf = std::numeric_limits<double>::infinity();
/// Not a number.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace strata::numpy

namespace strata {

using numpy::e;
using numpy::euler_gamma;
using numpy::inf;
using numpy::nan;
using numpy::pi;

}  // namespace strata
