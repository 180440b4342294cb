// What floats are made of: signs, parts, neighbours; and numbers that are none.
#pragma once

#include <optional>
#include <utility>

#include "strata/api/array.h"

namespace strata::numpy {

/// Whether x is neither infinite nor NaN, as booleans.
Array isfinite(const Operand& x);
/// Whether x is infinite, as booleans.
Array isinf(const Operand& x);
/// Whether x is not a number, as booleans.
Array isnan(const Operand& x);
/// Whether x is minus infinity, as booleans.
Array isneginf(const Operand& x);
/// Whether x is plus infinity, as booleans.
Array isposinf(const Operand& x);
/// Whether the sign bit is set: also of -0 and of NaN.
Array signbit(const Operand& x);
/// The magnitude of x with the sign of y.
Array copysign(const Operand& x, const Operand& y);
/// The next number of the dtype from x towards y.
Array nextafter(const Operand& x, const Operand& y);
/// The distance to the next number away from zero; f16: towards infinity.
Array spacing(const Operand& x);
/// (m, e) with x = m 2^e and 1/2 <= |m| < 1; zeros, infinities and NaN are m, with e = 0.
[[nodiscard]] std::pair<Array, Array> frexp(const Operand& x);
/// x 2^n for integers n.
Array ldexp(const Operand& x, const Operand& n);
/// (what is behind the point, what is before it), both with x's sign.
[[nodiscard]] std::pair<Array, Array> modf(const Operand& x);
/// 0 below zero, y at zero, 1 above.
Array heaviside(const Operand& x, const Operand& y);

struct NanToNum {
  internal::Named named = internal::Named();
  double nan = 0;
  /// The largest finite number and its negative, unless given.
  std::optional<double> posinf = std::nullopt, neginf = std::nullopt;
};
/// x with zeros for NaN and the largest finite numbers for infinities, unless given.
Array nan_to_num(const Operand& x, const NanToNum& options = {});

/// The modified Bessel function of the first kind of order 0, of real numbers.
Array i0(const Operand& x);

}  // namespace strata::numpy

namespace strata {

using numpy::copysign;
using numpy::frexp;
using numpy::heaviside;
using numpy::i0;
using numpy::isfinite;
using numpy::isinf;
using numpy::isnan;
using numpy::isneginf;
using numpy::isposinf;
using numpy::ldexp;
using numpy::modf;
using numpy::nan_to_num;
using numpy::nextafter;
using numpy::signbit;
using numpy::spacing;

}  // namespace strata
