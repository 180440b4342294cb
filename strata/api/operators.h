// Operators on arrays and C++ scalars: `x + 1`, `2.0f * x`, `x < y`, `x & mask`. Operands are
// promoted (type/promote.h) and broadcast as in NumPy; errors name the user's line.
#pragma once

#include "strata/api/array.h"

namespace strata {

Array operator+(const Operand& x, const Operand& y);
Array operator-(const Operand& x, const Operand& y);
Array operator*(const Operand& x, const Operand& y);
/// True division: integers give floats.
Array operator/(const Operand& x, const Operand& y);
/// Python's remainder: the sign of the divisor.
Array operator%(const Operand& x, const Operand& y);
Array operator-(const Operand& x);
Array operator+(const Operand& x);

Array operator==(const Operand& x, const Operand& y);
Array operator!=(const Operand& x, const Operand& y);
Array operator<(const Operand& x, const Operand& y);
Array operator<=(const Operand& x, const Operand& y);
Array operator>(const Operand& x, const Operand& y);
Array operator>=(const Operand& x, const Operand& y);

Array operator&(const Operand& x, const Operand& y);
Array operator|(const Operand& x, const Operand& y);
Array operator^(const Operand& x, const Operand& y);
Array operator~(const Operand& x);
Array operator<<(const Operand& x, const Operand& y);
/// Arithmetic for signed integers, logical for unsigned ones.
Array operator>>(const Operand& x, const Operand& y);

inline Array& operator+=(Array& x, const Operand& y) { return x = Operand(x, y.where) + y; }
inline Array& operator-=(Array& x, const Operand& y) { return x = Operand(x, y.where) - y; }
inline Array& operator*=(Array& x, const Operand& y) { return x = Operand(x, y.where) * y; }
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
