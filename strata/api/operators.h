// Operators on arrays and C++ scalars: `x + 1`, `2.0f * x`, `x < y`, `x & mask`. Operands are
// promoted (type/promote.h) and broadcast as in NumPy; errors name the user's line.
#pragma once

#include "strata/api/array.h"

namespace strata {

/// The sum, element by element; integers wrap. Of one operand: itself.
Array operator+(const Operand& x, const Operand& y);
/// The difference, element by element; of one operand its negative. Throws Error for booleans.
Array operator-(const Operand& x, const Operand& y);
/// The product, element by element; `dot` and `matmul` are those of matrices.
Array operator*(const Operand& x, const Operand& y);
/// True division: integers give floats.
Array operator/(const Operand& x, const Operand& y);
/// Python's remainder: the sign of the divisor.
Array operator%(const Operand& x, const Operand& y);
Array operator-(const Operand& x);
Array operator+(const Operand& x);

/// Whether elements are equal, as booleans; NaN equals nothing.
Array operator==(const Operand& x, const Operand& y);
/// Whether elements differ, as booleans; NaN differs from everything.
Array operator!=(const Operand& x, const Operand& y);
/// Whether elements of x are less; false where one is NaN.
Array operator<(const Operand& x, const Operand& y);
/// Whether elements of x are less or equal; false where one is NaN.
Array operator<=(const Operand& x, const Operand& y);
/// Whether elements of x are greater; false where one is NaN.
Array operator>(const Operand& x, const Operand& y);
/// Whether elements of x are greater or equal; false where one is NaN.
Array operator>=(const Operand& x, const Operand& y);

/// Bitwise and of integers, logical and of booleans. Throws Error for floats.
Array operator&(const Operand& x, const Operand& y);
/// Bitwise or of integers, logical or of booleans. Throws Error for floats.
Array operator|(const Operand& x, const Operand& y);
/// Bitwise exclusive or of integers and booleans. Throws Error for floats.
Array operator^(const Operand& x, const Operand& y);
/// All bits of integers inverted, logical not of booleans. Throws Error for floats.
Array operator~(const Operand& x);
Array operator<<(const Operand& x, const Operand& y);
/// Arithmetic for signed integers, logical for unsigned ones.
Array operator>>(const Operand& x, const Operand& y);

/// x = x + y: x is another array then, whose dtype and shape are the sum's.
inline Array& operator+=(Array& x, const Operand& y) { return x = Operand(x, y.where) + y; }
/// x = x - y: x is another array then.
inline Array& operator-=(Array& x, const Operand& y) { return x = Operand(x, y.where) - y; }
/// x = x * y: x is another array then.
inline Array& operator*=(Array& x, const Operand& y) { return x = Operand(x, y.where) * y; }
/// x = x / y: x is another array then, of floats.
inline Array& operator/=(Array& x, const Operand& y) { return x = Operand(x, y.where) / y; }
// `x[i] += y` would change a new array: refused with a sentence.
template <class T>
void operator+=(Array&&, const T&) {
  internal::refuse_assignment<T>();
}
template <class T>
void operator-=(Array&&, const T&) {
  internal::refuse_assignment<T>();
}
template <class T>
void operator*=(Array&&, const T&) {
  internal::refuse_assignment<T>();
}
template <class T>
void operator/=(Array&&, const T&) {
  internal::refuse_assignment<T>();
}

}  // namespace strata
