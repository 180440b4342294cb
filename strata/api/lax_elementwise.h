// Elementwise operations under the names of jax.lax: operands have one dtype and one shape, except
// that C++ scalars take on the other's.
#pragma once

#include "strata/api/array.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

// Of floats and complex numbers. What is said of the accuracy stays in the graph (lax/precision.h),
// but for exp2, which programs write as a power.
Array acos(const Operand& x);
Array acosh(const Operand& x);
Array asin(const Operand& x);
Array asinh(const Operand& x);
Array atan(const Operand& x);
Array atanh(const Operand& x);
Array cbrt(const Operand& x, const Accuracy& accuracy = {});
Array cos(const Operand& x, const Accuracy& accuracy = {});
Array cosh(const Operand& x);
Array exp(const Operand& x, const Accuracy& accuracy = {});
Array exp2(const Operand& x, const Accuracy& accuracy = {});
Array expm1(const Operand& x, const Accuracy& accuracy = {});
Array log(const Operand& x, const Accuracy& accuracy = {});
Array log1p(const Operand& x, const Accuracy& accuracy = {});
Array logistic(const Operand& x, const Accuracy& accuracy = {});
Array reciprocal(const Operand& x);
Array rsqrt(const Operand& x, const Accuracy& accuracy = {});
Array sin(const Operand& x, const Accuracy& accuracy = {});
Array sinh(const Operand& x);
Array sqrt(const Operand& x, const Accuracy& accuracy = {});
Array tan(const Operand& x, const Accuracy& accuracy = {});
Array tanh(const Operand& x, const Accuracy& accuracy = {});

// Of floats.
Array bessel_i0e(const Operand& x);
Array bessel_i1e(const Operand& x);
Array ceil(const Operand& x);
Array digamma(const Operand& x);
Array erf(const Operand& x);
/// Inverse of the error function; f32 and f64 (narrower floats in f32).
Array erf_inv(const Operand& x);
Array erfc(const Operand& x);
Array floor(const Operand& x);
Array is_finite(const Operand& x);
/// log |gamma(x)|
Array lgamma(const Operand& x);

/// To whole numbers.
Array round(const Operand& x, RoundingMethod rounding_method = RoundingMethod::AWAY_FROM_ZERO);
/// Rounded to a float of so many bits of exponent (at least 1) and mantissa, whose dtype stays.
Array reduce_precision(const Operand& x, std::int64_t exponent_bits, std::int64_t mantissa_bits);

// Of numbers.
Array abs(const Operand& x);
Array neg(const Operand& x);
Array sign(const Operand& x);
Array square(const Operand& x);
Array add(const Operand& x, const Operand& y);
Array div(const Operand& x, const Operand& y);
Array max(const Operand& x, const Operand& y);
Array min(const Operand& x, const Operand& y);
Array mul(const Operand& x, const Operand& y);
Array pow(const Operand& x, const Operand& y);
/// The operation's truncating remainder: the sign of x.
Array rem(const Operand& x, const Operand& y);
Array sub(const Operand& x, const Operand& y);
Array atan2(const Operand& x, const Operand& y);
Array nextafter(const Operand& x, const Operand& y);
Array polygamma(const Operand& n, const Operand& x);
/// Hurwitz's zeta function.
Array zeta(const Operand& x, const Operand& q);

Array eq(const Operand& x, const Operand& y);
Array ne(const Operand& x, const Operand& y);
Array lt(const Operand& x, const Operand& y);
Array le(const Operand& x, const Operand& y);
Array gt(const Operand& x, const Operand& y);
Array ge(const Operand& x, const Operand& y);

// Of integers and booleans.
Array bitwise_and(const Operand& x, const Operand& y);
Array bitwise_not(const Operand& x);
Array bitwise_or(const Operand& x, const Operand& y);
Array bitwise_xor(const Operand& x, const Operand& y);
Array clz(const Operand& x);
/// The upper half of the product, which has twice the width.
Array mulhi(const Operand& x, const Operand& y);
Array population_count(const Operand& x);
Array shift_left(const Operand& x, const Operand& y);
Array shift_right_arithmetic(const Operand& x, const Operand& y);
Array shift_right_logical(const Operand& x, const Operand& y);

/// From the parts, and the parts, of complex numbers.
Array complex(const Operand& re, const Operand& im);
Array real(const Operand& x);
Array imag(const Operand& x);
Array conj(const Operand& x);

Array integer_pow(const Operand& x, std::int64_t y);

}  // namespace strata::lax
