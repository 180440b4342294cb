// Bits of integers, divisors and multiples.
#pragma once

#include <optional>
#include <string>

#include "strata/api/array.h"

namespace strata::numpy {

/// All bits inverted; of booleans, not x.
Array invert(const Operand& x);
inline Array bitwise_not(const Operand& x) { return invert(x); }
inline Array bitwise_invert(const Operand& x) { return invert(x); }
/// The bits that both have, of integers and booleans.
Array bitwise_and(const Operand& x, const Operand& y);
/// The bits that one has, of integers and booleans.
Array bitwise_or(const Operand& x, const Operand& y);
/// The bits that just one has, of integers and booleans.
Array bitwise_xor(const Operand& x, const Operand& y);
/// x 2^y, of integers.
Array left_shift(const Operand& x, const Operand& y);
/// Arithmetic for signed integers, logical for unsigned ones.
Array right_shift(const Operand& x, const Operand& y);
inline Array bitwise_left_shift(const Operand& x, const Operand& y) { return left_shift(x, y); }
inline Array bitwise_right_shift(const Operand& x, const Operand& y) { return right_shift(x, y); }
/// How many bits of |x| are set, u8.
Array bitwise_count(const Operand& x);
/// The greatest common divisor, and the least common multiple, of |x| and |y|.
Array gcd(const Operand& x, const Operand& y);
/// The least common multiple of integers; 0 where one is 0.
Array lcm(const Operand& x, const Operand& y);

struct Bits {
  internal::Named named = internal::Named();
  /// Of the flattened array without one.
  std::optional<std::int64_t> axis = std::nullopt;
  /// How many bits come out (unpackbits): zeros behind, or the last ones left out.
  std::optional<std::int64_t> count = std::nullopt;
  /// "big": the first bit is the highest; "little".
  std::string bitorder = "big";
};
/// Eight elements as the bits of one, u8: 1 where they are not zero. Zeros stand in for what is
/// missing.
Array packbits(const Operand& x, const Bits& options = {});
/// The bits of u8 elements, as u8.
Array unpackbits(const Operand& x, const Bits& options = {});

}  // namespace strata::numpy

namespace strata {

using numpy::bitwise_and;
using numpy::bitwise_count;
using numpy::bitwise_invert;
using numpy::bitwise_left_shift;
using numpy::bitwise_not;
using numpy::bitwise_or;
using numpy::bitwise_right_shift;
using numpy::bitwise_xor;
using numpy::gcd;
using numpy::invert;
using numpy::lcm;
using numpy::left_shift;
using numpy::packbits;
using numpy::right_shift;
using numpy::unpackbits;

}  // namespace strata
