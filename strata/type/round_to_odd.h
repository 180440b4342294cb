// Rounding in two steps as if in one.
//
//   Float16(rounded_to_odd(x))   // the f16 nearest to the f64 x
//
// Rounding to f32 and then to a narrower type rounds twice: a number just beside the middle of two
// narrow ones may become the middle itself. Rounded to odd it keeps a last bit that says that
// something was cut off, which decides the second rounding; f32 has more than two bits beyond the
// narrow types (S. Boldo, G. Melquiond, "When double rounding is odd", 2005).
#pragma once

#include <bit>
#include <cstdint>

namespace strata {

/// The f32 towards zero from x, with the last bit set where it is not x itself. Infinities and
/// zeros stay, a NaN stays a NaN, what is beyond f32 becomes its largest number.
constexpr float rounded_to_odd(double x) {
  float nearest = static_cast<float>(x);
  double back = nearest;
  if (back == x) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  bool away = x < 0 ? back < x : back > x;
  return std::bit_cast<float>((away ? bits - 1 : bits) | 1u);
}

}  // namespace strata
