#include "strata/type/minifloat.h"

#include <cmath>
#include <limits>

#include "strata/base/check.h"

namespace strata {

std::uint32_t MiniFloat::greatest() const {
  std::uint32_t ones = (1u << sign_shift()) - 1;
  if (top == Top::ieee) return (((1u << exponent_bits) - 1) << mantissa_bits) - 1;
  return top == Top::nan ? ones - 1 : ones;
}

std::uint32_t MiniFloat::overflow() const {
  if (top == Top::finite) return greatest();
  return top == Top::minus_0 ? 1u << sign_shift() : greatest() + 1;
}

std::uint32_t MiniFloat::nan() const {
  if (top == Top::ieee) return overflow() | 1u << (mantissa_bits - 1);
  return top == Top::finite ? 1u << sign_shift() : overflow();
}

bool is_minifloat(DType dtype) { return is_float(dtype) && bit_width(dtype) < 16; }

MiniFloat minifloat(DType dtype) {
  using Top = MiniFloat::Top;
  switch (dtype) {
    case DType::f4E2M1FN: return {2, 1, 1, Top::finite};
    case DType::f6E2M3FN: return {2, 3, 1, Top::finite};
    case DType::f6E3M2FN: return {3, 2, 3, Top::finite};
    case DType::f8E3M4: return {3, 4, 3, Top::ieee};
    case DType::f8E4M3: return {4, 3, 7, Top::ieee};
    case DType::f8E4M3B11FNUZ: return {4, 3, 11, Top::minus_0};
    case DType::f8E4M3FN: return {4, 3, 7, Top::nan};
    case DType::f8E4M3FNUZ: return {4, 3, 8, Top::minus_0};
    case DType::f8E5M2: return {5, 2, 15, Top::ieee};
    case DType::f8E5M2FNUZ: return {5, 2, 16, Top::minus_0};
    case DType::f8E8M0FNU: return {8, 0, 127, Top::nan, false};
    default: STRATA_UNREACHABLE("{} has no layout of less than 16 bits", name(dtype));
  }
}

float minifloat_value(DType dtype, std::uint8_t bits) {
  MiniFloat f = minifloat(dtype);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::uint32_t magnitude = bits & ((1u << f.sign_shift()) - 1),
                sign = f.has_sign ? (bits >> f.sign_shift()) & 1u : 0;
  if (f.top == MiniFloat::Top::minus_0 && sign != 0 && magnitude == 0) return kNaN;
  int exponent = static_cast<int>(magnitude >> f.mantissa_bits),
      mantissa = static_cast<int>(magnitude & ((1u << f.mantissa_bits) - 1));
  float value;
  if (magnitude > f.greatest())
    value = f.top == MiniFloat::Top::ieee && mantissa == 0 ? std::numeric_limits<float>::infinity()
                                                           : kNaN;
  else if (!f.has_sign)
    value = std::ldexp(1.0f, exponent - f.bias);
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  else
    value = std::ldexp(static_cast<float>(mantissa | 1 << f.mantissa_bits),
                       exponent - f.bias - f.mantissa_bits);
  return sign != 0 ? -value : value;
}

namespace {

/// Powers of two: halfway goes up, and so does all that lies between the two smallest. What f32 has
/// as zero is zero.
std::uint8_t power_of_two(const MiniFloat& f, double value) {
  if (!(value > 0x1p-150) || std::isinf(value)) return static_cast<std::uint8_t>(f.overflow());
  if (value < 0x1p-126) return value > 0x1p-127 ? 1 : 0;
  int exponent = std::ilogb(value);
  if (std::ldexp(value, -exponent) >= 1.5) ++exponent;
  if (exponent > 127) return static_cast<std::uint8_t>(f.overflow());
  return static_cast<std::uint8_t>(exponent + f.bias);
}

}  // namespace

std::uint8_t minifloat_bits(DType dtype, double value) {
  MiniFloat f = minifloat(dtype);
  if (!f.has_sign) return power_of_two(f, value);
  std::uint32_t sign = std::signbit(value) ? 1u << f.sign_shift() : 0;
  if (std::isnan(value))
    return static_cast<std::uint8_t>(f.top == MiniFloat::Top::minus_0 ? f.nan() : f.nan() ^ sign);
  double magnitude = std::fabs(value), bits = std::numeric_limits<double>::infinity();
  int least = 1 - f.bias;  // exponent of the smallest normal value
  if (magnitude < std::ldexp(1.0, least)) {
    bits = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - least));
  } else if (!std::isinf(magnitude)) {
    int exponent = std::ilogb(magnitude);
    bits = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent)) +
           std::ldexp(exponent - least, f.mantissa_bits);
  }
  bool none = f.top == MiniFloat::Top::minus_0;
  if (bits > f.greatest())
    return static_cast<std::uint8_t>(none ? f.overflow() : f.overflow() | sign);
  if (none && bits == 0) sign = 0;
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(bits) | sign);
}

}  // namespace strata
