// Elementwise operations under the names of jax.lax: operands have one dtype and one shape, except
// that C++ scalars take on the other's.
#pragma once

#include "strata/api/array.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

// Of floats and complex numbers. What is asked of the accuracy stays in the graph
// (lax/precision.h), but for exp2, which programs write as a power.
/// The angle in [0, pi] whose cosine is x; NaN outside of [-1, 1].
Array acos(const Operand& x);
/// The number at least 0 whose hyperbolic cosine is x; NaN below 1.
Array acosh(const Operand& x);
/// The angle in [-pi/2, pi/2] whose sine is x; NaN outside of [-1, 1].
Array asin(const Operand& x);
/// The inverse of sinh.
Array asinh(const Operand& x);
/// The angle in (-pi/2, pi/2) whose tangent is x.
Array atan(const Operand& x);
/// The inverse of tanh; NaN outside of [-1, 1].
Array atanh(const Operand& x);
/// The cube root, negative for negative x.
Array cbrt(const Operand& x, const Accuracy& accuracy = {});
/// The cosine of x in radians.
Array cos(const Operand& x, const Accuracy& accuracy = {});
/// (exp(x) + exp(-x)) / 2
Array cosh(const Operand& x);
/// e to the power x.
Array exp(const Operand& x, const Accuracy& accuracy = {});
/// 2 to the power x.
Array exp2(const Operand& x, const Accuracy& accuracy = {});
/// exp(x) - 1, exact near 0.
Array expm1(const Operand& x, const Accuracy& accuracy = {});
/// The natural logarithm: -inf at 0, NaN below.
Array log(const Operand& x, const Accuracy& accuracy = {});
/// log(1 + x), exact near 0.
Array log1p(const Operand& x, const Accuracy& accuracy = {});
/// 1 / (1 + exp(-x))
Array logistic(const Operand& x, const Accuracy& accuracy = {});
/// 1 / x
Array reciprocal(const Operand& x);
/// 1 / sqrt(x)
Array rsqrt(const Operand& x, const Accuracy& accuracy = {});
/// The sine of x in radians.
Array sin(const Operand& x, const Accuracy& accuracy = {});
/// (exp(x) - exp(-x)) / 2
Array sinh(const Operand& x);
/// The square root: NaN below 0.
Array sqrt(const Operand& x, const Accuracy& accuracy = {});
/// The tangent of x in radians.
Array tan(const Operand& x, const Accuracy& accuracy = {});
/// sinh(x) / cosh(x)
Array tanh(const Operand& x, const Accuracy& accuracy = {});

/// The elements converted to a dtype: floats to integers towards zero, complex numbers to their
/// real part.
Array convert_element_type(const Operand& x, DType dtype);

// Of floats.
/// exp(-|x|) times the modified Bessel function of order 0.
Array bessel_i0e(const Operand& x);
/// exp(-|x|) times the modified Bessel function of order 1.
Array bessel_i1e(const Operand& x);
/// The least whole number that is not less.
Array ceil(const Operand& x);
/// The derivative of log gamma(x).
Array digamma(const Operand& x);
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
Array erf(const Operand& x);
/// Inverse of the error function; f32 and f64 (narrower floats in f32).
Array erf_inv(const Operand& x);
/// 1 - erf(x), exact for large x.
Array erfc(const Operand& x);
/// The greatest whole number that is not greater.
Array floor(const Operand& x);
/// Whether x is neither infinite nor NaN, as booleans.
Array is_finite(const Operand& x);
/// log |gamma(x)|
Array lgamma(const Operand& x);

/// Rounded to whole numbers, as a float: away from zero at ties, or to the even one.
Array round(const Operand& x, RoundingMethod rounding_method = RoundingMethod::AWAY_FROM_ZERO);
/// Rounded to a float of so many bits of exponent (at least 1) and mantissa, whose dtype stays.
Array reduce_precision(const Operand& x, std::int64_t exponent_bits, std::int64_t mantissa_bits);

// Of numbers.
/// The magnitude; real for complex numbers.
Array abs(const Operand& x);
/// -x; integers wrap.
Array neg(const Operand& x);
/// -1, 0 or 1; of complex numbers x / |x|.
Array sign(const Operand& x);
/// x x
Array square(const Operand& x);
/// x + y; integers wrap.
Array add(const Operand& x, const Operand& y);
/// x / y; of integers towards zero, as C++ has it.
Array div(const Operand& x, const Operand& y);
/// The greater of the two; NaN where one is.
Array max(const Operand& x, const Operand& y);
/// The lesser of the two; NaN where one is.
Array min(const Operand& x, const Operand& y);
/// x y; integers wrap.
Array mul(const Operand& x, const Operand& y);
/// x to the power y; y may be an integer.
Array pow(const Operand& x, const Operand& y);
/// The operation's truncating remainder: the sign of x.
Array rem(const Operand& x, const Operand& y);
/// x - y; integers wrap.
Array sub(const Operand& x, const Operand& y);
/// The angle of the point (y, x), in [-pi, pi].
Array atan2(const Operand& x, const Operand& y);
/// The float next to x in the direction of y.
Array nextafter(const Operand& x, const Operand& y);
/// The n-th derivative of digamma at x.
Array polygamma(const Operand& n, const Operand& x);
/// Hurwitz's zeta function.
Array zeta(const Operand& x, const Operand& q);

/// Whether x equals y, as booleans.
Array eq(const Operand& x, const Operand& y);
/// Whether x differs from y, as booleans.
Array ne(const Operand& x, const Operand& y);
/// Whether x is less than y, as booleans.
Array lt(const Operand& x, const Operand& y);
/// Whether x is at most y, as booleans.
Array le(const Operand& x, const Operand& y);
/// Whether x is greater than y, as booleans.
Array gt(const Operand& x, const Operand& y);
/// Whether x is at least y, as booleans.
Array ge(const Operand& x, const Operand& y);

// Of integers and booleans.
/// The bits that both have; of booleans, whether both are true.
Array bitwise_and(const Operand& x, const Operand& y);
/// All bits inverted; of booleans, not x.
Array bitwise_not(const Operand& x);
/// The bits that one has; of booleans, whether one is true.
Array bitwise_or(const Operand& x, const Operand& y);
/// The bits that just one has; of booleans, whether they differ.
Array bitwise_xor(const Operand& x, const Operand& y);
/// The number of zeros before the highest bit that is set.
Array clz(const Operand& x);
/// The upper half of the product, which has twice the width.
Array mulhi(const Operand& x, const Operand& y);
/// The number of bits that are set.
Array population_count(const Operand& x);
/// x 2^y; 0 where y is the width or more.
Array shift_left(const Operand& x, const Operand& y);
/// Bits shifted down, the sign repeated.
Array shift_right_arithmetic(const Operand& x, const Operand& y);
/// Bits shifted down, zeros in front.
Array shift_right_logical(const Operand& x, const Operand& y);

/// Complex numbers from their real and imaginary parts.
Array complex(const Operand& re, const Operand& im);
/// The real part of complex numbers.
Array real(const Operand& x);
/// The imaginary part of complex numbers.
Array imag(const Operand& x);
/// The complex conjugate; of real numbers a complex one.
Array conj(const Operand& x);

/// x to the power of a C++ integer by multiplication; 1 / x^-y where it is negative.
Array integer_pow(const Operand& x, std::int64_t y);

}  // namespace strata::lax

namespace strata {

using lax::erf;

}  // namespace strata
