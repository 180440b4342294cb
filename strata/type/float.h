// bf16 and f16 as storage types with round-to-nearest-even conversions. Arithmetic is done in f32
// by the caller and rounded back here, once per operation.
#pragma once

#include <bit>
#include <cstdint>

namespace strata {

/// f32 -> bf16 bits, ties to even; NaN stays a quiet NaN with its sign.
constexpr std::uint16_t bf16_bits(float value) {
  std::uint32_t u = std::bit_cast<std::uint32_t>(value);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((u >> 16) | 0x40u);
  return static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
constexpr float bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// f32 -> f16 bits, ties to even, subnormals kept, overflow to infinity.
constexpr std::uint16_t f16_bits(float value) {
  std::uint32_t u = std::bit_cast<std::uint32_t>(value);
  std::uint16_t sign = static_cast<std::uint16_t>((u >> 16) & 0x8000u);
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((u >> 13) & 0x3ffu));
  if (u >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (u < 0x33000001u) return sign;  // below half of the smallest subnormal (ties to even: zero)
  std::uint32_t exponent = u >> 23;
  if (exponent < 113) {  // subnormal result
    std::uint32_t mantissa = (u & 0x7fffffu) | 0x800000u;
    std::uint32_t shift = 126 - exponent;
    std::uint32_t half = mantissa >> shift;
    std::uint32_t rest = mantissa & ((1u << shift) - 1u), tie = 1u << (shift - 1);
    if (rest > tie || (rest == tie && (half & 1u))) ++half;
    return static_cast<std::uint16_t>(sign | half);
  }
  u += 0xfffu + ((u >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((u - 0x38000000u) >> 13));
}
constexpr float f16_value(std::uint16_t bits) {
  std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  std::uint32_t exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit constexpr BFloat16(float v) : bits(bf16_bits(v)) {}
  explicit constexpr operator float() const { return bf16_value(bits); }
};
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit constexpr Float16(float v) : bits(f16_bits(v)) {}
  explicit constexpr operator float() const { return f16_value(bits); }
};
static_assert(sizeof(BFloat16) == 2 && sizeof(Float16) == 2);

}  // namespace strata
