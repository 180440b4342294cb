// Floats below 16 bits: their layouts, and conversion from and to them, rounding once to nearest
// even.
//
// Bits are right-aligned in a byte: sign, exponent, mantissa. Where a type lacks infinities, an
// overflow gives NaN; where it lacks NaN too (f4, f6), the largest value, and NaN becomes the zero
// of the other sign. f8E8M0FNU holds powers of two alone: halfway goes up, as does all that lies
// between the two smallest; anything without a logarithm is NaN. These are the rules of ml_dtypes.
#pragma once

#include <cstdint>

#include "strata/type/dtype.h"

namespace strata {

struct MiniFloat {
  enum class Top {
    ieee,     // the top exponent holds infinities and NaN
    nan,      // all ones is NaN, the rest finite
    minus_0,  // the zero with a sign is NaN, the rest finite
    finite    // neither infinities nor NaN
  };
  int exponent_bits, mantissa_bits, bias;
  Top top;
  bool has_sign = true;

  int bits() const { return exponent_bits + mantissa_bits + (has_sign ? 1 : 0); }
  int sign_shift() const { return exponent_bits + mantissa_bits; }
  /// The bits of the greatest finite value, and of what lies beyond it (without sign; of minus_0:
  /// the NaN).
  std::uint32_t greatest() const;
  std::uint32_t overflow() const;
  /// The NaN that conversions make of a positive one.
  std::uint32_t nan() const;
};

/// Whether the type is one of f4 .. f8.
bool is_minifloat(DType dtype);
/// Its layout; a check fails for other types.
MiniFloat minifloat(DType dtype);

float minifloat_value(DType dtype, std::uint8_t bits);
std::uint8_t minifloat_bits(DType dtype, double value);

}  // namespace strata
