// Functions of one element, or of elements that meet by broadcasting.
#pragma once

#include <optional>
#include <utility>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata::numpy {

// Functions of real analysis turn integers into floats first.
/// Of complex numbers: the magnitude.
Array abs(const Operand& x);
inline Array absolute(const Operand& x) { return abs(x); }
/// The same as a float.
Array fabs(const Operand& x);
/// x itself; booleans have no sign.
Array positive(const Operand& x);
Array cbrt(const Operand& x);
Array ceil(const Operand& x);
Array exp(const Operand& x);
Array exp2(const Operand& x);
Array expm1(const Operand& x);
Array floor(const Operand& x);
Array log(const Operand& x);
Array log10(const Operand& x);
Array log1p(const Operand& x);
Array log2(const Operand& x);
Array logical_not(const Operand& x);
Array negative(const Operand& x);
Array reciprocal(const Operand& x);
/// To `decimals` digits behind the point; to the even one at ties. Integers are what they are.
Array round(const Operand& x, std::int64_t decimals = 0);
inline Array around(const Operand& x, std::int64_t decimals = 0) { return round(x, decimals); }
/// The same to integers, as floats.
Array rint(const Operand& x);
/// Towards zero.
Array trunc(const Operand& x);
Array sign(const Operand& x);
Array sqrt(const Operand& x);
Array square(const Operand& x);

Array add(const Operand& x, const Operand& y);
Array subtract(const Operand& x, const Operand& y);
Array multiply(const Operand& x, const Operand& y);
Array divide(const Operand& x, const Operand& y);
inline Array true_divide(const Operand& x, const Operand& y) { return divide(x, y); }
Array floor_divide(const Operand& x, const Operand& y);
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
Array maximum(const Operand& x, const Operand& y);
Array minimum(const Operand& x, const Operand& y);
/// The same, the number where one is NaN.
Array fmax(const Operand& x, const Operand& y);
Array fmin(const Operand& x, const Operand& y);
/// log(exp(x) + exp(y)) without overflow.
Array logaddexp(const Operand& x, const Operand& y);
/// log2(2^x + 2^y)
Array logaddexp2(const Operand& x, const Operand& y);
Array equal(const Operand& x, const Operand& y);
Array not_equal(const Operand& x, const Operand& y);
Array less(const Operand& x, const Operand& y);
Array less_equal(const Operand& x, const Operand& y);
Array greater(const Operand& x, const Operand& y);
Array greater_equal(const Operand& x, const Operand& y);
Array logical_and(const Operand& x, const Operand& y);
Array logical_or(const Operand& x, const Operand& y);
Array logical_xor(const Operand& x, const Operand& y);
/// min(max(x, low), high); a bound may be left out.
Array clip(const Operand& x, const std::optional<Operand>& low, const std::optional<Operand>& high);
/// condition ? x : y, element by element.
Array where(const Operand& condition, const Operand& x, const Operand& y);
Array astype(const Operand& x, DType dtype);
struct Closeness {
  internal::Named named = internal::Named();
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};
/// Whether |x - y| <= atol + rtol |y|.
Array isclose(const Operand& x, const Operand& y, const Closeness& options = {});
/// The same everywhere.
Array allclose(const Operand& x, const Operand& y, const Closeness& options = {});
/// Whether shapes and elements are equal.
Array array_equal(const Operand& x, const Operand& y, bool equal_nan = false);
/// Whether they are when broadcast.
Array array_equiv(const Operand& x, const Operand& y);

// Complex numbers and their parts; of real ones: themselves, and 0.
Array real(const Operand& x);
Array imag(const Operand& x);
Array conj(const Operand& x);
inline Array conjugate(const Operand& x) { return conj(x); }
/// The angle to the positive real axis.
Array angle(const Operand& z, bool deg = false);
Array isreal(const Operand& x);
Array iscomplex(const Operand& x);

}  // namespace strata::numpy
