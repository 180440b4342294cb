// Constants under NumPy's names.
#pragma once

#include <limits>

namespace strata::numpy {

inline constexpr double pi = 3.14159265358979323846;
inline constexpr double e = 2.71828182845904523536;
inline constexpr double euler_gamma = 0.57721566490153286061;
inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace strata::numpy
