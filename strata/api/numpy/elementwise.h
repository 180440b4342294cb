// Functions of one element, or of elements that meet by broadcasting.
#pragma once

#include <optional>
#include <utility>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata::numpy {

// Functions of real analysis turn integers into floats first.
/// The absolute value; of complex numbers the magnitude, which is real.
Array abs(const Operand& x);
inline Array absolute(const Operand& x) { return abs(x); }
/// The magnitude as a float.
Array fabs(const Operand& x);
/// x itself; booleans have no sign.
Array positive(const Operand& x);
/// The cube root, negative for negative x.
Array cbrt(const Operand& x);
/// The least whole number that is not less, as a float.
Array ceil(const Operand& x);
/// e to the power x.
Array exp(const Operand& x);
/// 2 to the power x.
Array exp2(const Operand& x);
/// exp(x) - 1, exact near 0.
Array expm1(const Operand& x);
/// The greatest whole number that is not greater, as a float.
Array floor(const Operand& x);
/// The natural logarithm: -inf at 0, NaN below.
Array log(const Operand& x);
/// The logarithm to base 10.
Array log10(const Operand& x);
/// log(1 + x), exact near 0.
Array log1p(const Operand& x);
/// The logarithm to base 2.
Array log2(const Operand& x);
/// Whether x is zero, as booleans.
Array logical_not(const Operand& x);
/// -x; integers wrap. Throws Error for booleans.
Array negative(const Operand& x);
/// 1 / x, as a float.
Array reciprocal(const Operand& x);
/// To `decimals` digits behind the point; to the even one at ties. Integers are what they are.
Array round(const Operand& x, std::int64_t decimals = 0);
inline Array around(const Operand& x, std::int64_t decimals = 0) { return round(x, decimals); }
/// Rounded to whole numbers, to the even one at ties, as a float.
Array rint(const Operand& x);
/// Rounded to a whole number towards zero, as a float.
Array trunc(const Operand& x);
/// -1, 0 or 1 in the dtype of x; NaN stays, complex numbers give x / |x|.
Array sign(const Operand& x);
/// The square root: NaN below 0.
Array sqrt(const Operand& x);
/// x x, in the dtype of x.
Array square(const Operand& x);

/// x + y; integers wrap, booleans give their or.
Array add(const Operand& x, const Operand& y);
/// x - y; integers wrap. Throws Error for booleans.
Array subtract(const Operand& x, const Operand& y);
/// x y, element by element; integers wrap.
Array multiply(const Operand& x, const Operand& y);
/// x / y as floats.
Array divide(const Operand& x, const Operand& y);
inline Array true_divide(const Operand& x, const Operand& y) { return divide(x, y); }
/// floor(x / y); integers stay integers.
Array floor_divide(const Operand& x, const Operand& y);
/// x - y floor(x / y), which has the sign of y.
Array remainder(const Operand& x, const Operand& y);
inline Array mod(const Operand& x, const Operand& y) { return remainder(x, y); }
/// The remainder with the sign of x.
Array fmod(const Operand& x, const Operand& y);
/// (floor_divide, remainder)
[[nodiscard]] std::pair<Array, Array> divmod(const Operand& x, const Operand& y);
/// An integer C++ exponent is a product of squares; others go through the power function.
Array power(const Operand& x, const Operand& y);
inline Array pow(const Operand& x, const Operand& y) { return power(x, y); }
/// The power function of floats.
Array float_power(const Operand& x, const Operand& y);
/// The greater of the two; NaN where one is.
Array maximum(const Operand& x, const Operand& y);
/// The lesser of the two; NaN where one is.
Array minimum(const Operand& x, const Operand& y);
/// The greater of the two; the number where one is NaN.
Array fmax(const Operand& x, const Operand& y);
/// The lesser of the two; the number where one is NaN.
Array fmin(const Operand& x, const Operand& y);
/// log(exp(x) + exp(y)) without overflow.
Array logaddexp(const Operand& x, const Operand& y);
/// log2(2^x + 2^y)
Array logaddexp2(const Operand& x, const Operand& y);
/// Whether x equals y, as booleans.
Array equal(const Operand& x, const Operand& y);
/// Whether x differs from y, as booleans.
Array not_equal(const Operand& x, const Operand& y);
/// Whether x is less than y, as booleans.
Array less(const Operand& x, const Operand& y);
/// Whether x is at most y, as booleans.
Array less_equal(const Operand& x, const Operand& y);
/// Whether x is greater than y, as booleans.
Array greater(const Operand& x, const Operand& y);
/// Whether x is at least y, as booleans.
Array greater_equal(const Operand& x, const Operand& y);
/// Whether both are other than zero.
Array logical_and(const Operand& x, const Operand& y);
/// Whether one is other than zero.
Array logical_or(const Operand& x, const Operand& y);
/// Whether just one is other than zero.
Array logical_xor(const Operand& x, const Operand& y);
/// min(max(x, low), high); a bound may be left out.
Array clip(const Operand& x, const std::optional<Operand>& low, const std::optional<Operand>& high);
/// condition ? x : y, element by element.
Array where(const Operand& condition, const Operand& x, const Operand& y);
/// The elements converted to a dtype: floats to integers towards zero, to booleans whether they are
/// other than zero.
Array astype(const Operand& x, DType dtype);
struct Closeness {
  internal::Named named = internal::Named();
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};
/// Whether |x - y| <= atol + rtol |y|.
Array isclose(const Operand& x, const Operand& y, const Closeness& options = {});
/// Whether |x - y| <= atol + rtol |y| everywhere, a boolean scalar.
Array allclose(const Operand& x, const Operand& y, const Closeness& options = {});
/// Whether shapes and elements are equal.
Array array_equal(const Operand& x, const Operand& y, bool equal_nan = false);
/// Whether elements are equal when broadcast; false where shapes do not broadcast.
Array array_equiv(const Operand& x, const Operand& y);

// Complex numbers and their parts; of real ones: themselves, and 0.
/// The real part; x itself where it is real.
Array real(const Operand& x);
/// The imaginary part; zeros where x is real.
Array imag(const Operand& x);
/// The complex conjugate; x itself where it is real.
Array conj(const Operand& x);
inline Array conjugate(const Operand& x) { return conj(x); }
/// Whether the imaginary part is zero, as booleans.
Array isreal(const Operand& x);
/// Whether the imaginary part is other than zero, as booleans.
Array iscomplex(const Operand& x);

}  // namespace strata::numpy

namespace strata {

using numpy::abs;
using numpy::absolute;
using numpy::add;
using numpy::allclose;
using numpy::around;
using numpy::array_equal;
using numpy::array_equiv;
using numpy::astype;
using numpy::cbrt;
using numpy::ceil;
using numpy::clip;
using numpy::conj;
using numpy::conjugate;
using numpy::divide;
using numpy::divmod;
using numpy::equal;
using numpy::exp;
using numpy::exp2;
using numpy::expm1;
using numpy::fabs;
using numpy::float_power;
using numpy::floor;
using numpy::floor_divide;
using numpy::fmax;
using numpy::fmin;
using numpy::fmod;
using numpy::greater;
using numpy::greater_equal;
using numpy::imag;
using numpy::isclose;
using numpy::iscomplex;
using numpy::isreal;
using numpy::less;
using numpy::less_equal;
using numpy::log;
using numpy::log10;
using numpy::log1p;
using numpy::log2;
using numpy::logaddexp;
using numpy::logaddexp2;
using numpy::logical_and;
using numpy::logical_not;
using numpy::logical_or;
using numpy::logical_xor;
using numpy::maximum;
using numpy::minimum;
using numpy::mod;
using numpy::multiply;
using numpy::negative;
using numpy::not_equal;
using numpy::positive;
using numpy::pow;
using numpy::power;
using numpy::real;
using numpy::reciprocal;
using numpy::remainder;
using numpy::rint;
using numpy::round;
using numpy::sign;
using numpy::sqrt;
using numpy::square;
using numpy::subtract;
using numpy::true_divide;
using numpy::trunc;
using numpy::where;

}  // namespace strata
