// Bits of integers, divisors and multiples.
#pragma once

#include "strata/api/array.h"

namespace strata::numpy {

Array invert(const Operand& x);
inline Array bitwise_not(const Operand& x) { return invert(x); }
inline Array bitwise_invert(const Operand& x) { return invert(x); }
Array bitwise_and(const Operand& x, const Operand& y);
Array bitwise_or(const Operand& x, const Operand& y);
Array bitwise_xor(const Operand& x, const Operand& y);
Array left_shift(const Operand& x, const Operand& y);
/// Arithmetic for signed integers, logical for unsigned ones.
Array right_shift(const Operand& x, const Operand& y);
inline Array bitwise_left_shift(const Operand& x, const Operand& y) { return left_shift(x, y); }
inline Array bitwise_right_shift(const Operand& x, const Operand& y) { return right_shift(x, y); }
/// How many bits of |x| are set, u8.
Array bitwise_count(const Operand& x);
/// The greatest common divisor, and the least common multiple, of |x| and |y|.
Array gcd(const Operand& x, const Operand& y);
Array lcm(const Operand& x, const Operand& y);

}  // namespace strata::numpy
