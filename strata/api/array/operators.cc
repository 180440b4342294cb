// The operators of operators.h, by the functions of numpy.h.
#include "strata/api/operators.h"

#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/integers.h"

namespace strata {

Array operator+(const Operand& x, const Operand& y) { return numpy::add(x, y); }
Array operator-(const Operand& x, const Operand& y) { return numpy::subtract(x, y); }
Array operator*(const Operand& x, const Operand& y) { return numpy::multiply(x, y); }
Array operator/(const Operand& x, const Operand& y) { return numpy::divide(x, y); }
Array operator%(const Operand& x, const Operand& y) { return numpy::remainder(x, y); }
Array operator-(const Operand& x) { return numpy::negative(x); }
Array operator+(const Operand& x) { return x.array; }
Array operator==(const Operand& x, const Operand& y) { return numpy::equal(x, y); }
Array operator!=(const Operand& x, const Operand& y) { return numpy::not_equal(x, y); }
Array operator<(const Operand& x, const Operand& y) { return numpy::less(x, y); }
Array operator<=(const Operand& x, const Operand& y) { return numpy::less_equal(x, y); }
Array operator>(const Operand& x, const Operand& y) { return numpy::greater(x, y); }
Array operator>=(const Operand& x, const Operand& y) { return numpy::greater_equal(x, y); }
Array operator&(const Operand& x, const Operand& y) { return numpy::bitwise_and(x, y); }
Array operator|(const Operand& x, const Operand& y) { return numpy::bitwise_or(x, y); }
Array operator^(const Operand& x, const Operand& y) { return numpy::bitwise_xor(x, y); }
Array operator~(const Operand& x) { return numpy::invert(x); }
Array operator<<(const Operand& x, const Operand& y) { return numpy::left_shift(x, y); }
Array operator>>(const Operand& x, const Operand& y) { return numpy::right_shift(x, y); }

}  // namespace strata
