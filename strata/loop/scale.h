// Scaling by powers of two: a call of a function that every reader of the loop form knows, lane by
// lane,
// `%7 = call @scale(%x, %k, %power) : f32x16`.
//
//   x 2^k, rounded once, for whole k that two normal powers of two make up; NaN gives NaN whatever
//   k is
//
// k comes twice, as a float and as the low bits of an integer that holds k + 2 bias: a machine has
// an instruction that takes the first (vscalefps), or multiplies by two numbers made of the second.
// Users have both at hand (math/exponential.h).
#pragma once

#include <bit>
#include <limits>
#include <string_view>
#include <type_traits>

#include "strata/loop/loop.h"

namespace strata::loop {

inline constexpr std::string_view kScale = "scale";

/// Whether an instruction is such a call.
inline bool is_scale(const Inst& inst) {
  return inst.code == Opcode::call && inst.callee == kScale;
}

/// x 2^k for k + 2 bias in the low bits of `power`: two factors, so that a subnormal product is
/// rounded once.
template <class T, class Power>
T scaled(T x, Power power) {
  using U = std::make_unsigned_t<Power>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  Power half = power >> 1;
  T first = std::bit_cast<T>(static_cast<U>(half) << mantissa);
  T second = std::bit_cast<T>((static_cast<U>(power) - static_cast<U>(half)) << mantissa);
  return x * first * second;
}

}  // namespace strata::loop
