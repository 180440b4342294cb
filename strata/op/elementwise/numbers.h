// The meaning of elementwise operations on C++ numbers: what the reference evaluator computes for
// each element.
//
// T is bool, a fixed-width integer, float or double (bf16 and f16 arrive as float). Everything is
// total, as in the loop form: integers wrap; x/0 = -1 (all ones), x%0 = x, MIN/-1 = MIN, MIN%-1 =
// 0; shifts by the width or more give 0 or the sign; float -> integer truncates and saturates, NaN
// gives 0; min and max propagate NaN and order -0 below +0.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "strata/loop/math/math.h"

namespace strata::op::numbers {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;
/// The unsigned integer of T's width; arithmetic in it wraps.
template <class T>
using Bits = std::make_unsigned_t<T>;

template <class T>
T add(T x, T y) {
  if constexpr (is_bool<T>)
    return x || y;
  else if constexpr (is_float<T>)
    return x + y;
  else
    return static_cast<T>(static_cast<Bits<T>>(static_cast<Bits<T>>(x) + static_cast<Bits<T>>(y)));
}
template <class T>
T sub(T x, T y) {
  if constexpr (is_float<T>)
    return x - y;
  else
    return static_cast<T>(static_cast<Bits<T>>(static_cast<Bits<T>>(x) - static_cast<Bits<T>>(y)));
}
template <class T>
T mul(T x, T y) {
  if constexpr (is_bool<T>)
    return x && y;
  else if constexpr (is_float<T>)
    return x * y;
  else
    return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}
template <class T>
T div(T x, T y) {
  if constexpr (is_float<T>)
    return x / y;
  else if (y == 0)
    return static_cast<T>(~Bits<T>{0});
  else if constexpr (std::is_signed_v<T>)
    return y == -1 ? sub<T>(0, x) : static_cast<T>(x / y);
  else
    return static_cast<T>(x / y);
}
template <class T>
T rem(T x, T y) {
  if constexpr (is_float<T>)
    return std::fmod(x, y);
  else if (y == 0)
    return x;
  else if constexpr (std::is_signed_v<T>)
    return y == -1 ? T{0} : static_cast<T>(x % y);
  else
    return static_cast<T>(x % y);
}
template <class T>
T neg(T x) {
  if constexpr (is_float<T>)
    return -x;
  else
    return sub<T>(0, x);
}
template <class T>
T abs(T x) {
  if constexpr (is_float<T>)
    return std::fabs(x);
  else if constexpr (std::is_signed_v<T>)
    return x < 0 ? neg(x) : x;
  else
    return x;
}
template <class T>
T sign(T x) {
  if constexpr (is_float<T>)
    return x > 0 ? T{1} : x < 0 ? T{-1} : x;
  else
    return static_cast<T>((x > 0) - (x < 0));
}
template <class T>
T min(T x, T y) {
  if constexpr (is_float<T>) {
    if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
    if (x == y) return std::signbit(x) ? x : y;
  }
  return x < y ? x : y;
}
template <class T>
T max(T x, T y) {
  if constexpr (is_float<T>) {
    if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
    if (x == y) return std::signbit(x) ? y : x;
  }
  return x > y ? x : y;
}
template <class T>
T and_(T x, T y) {
  if constexpr (is_bool<T>)
    return x && y;
  else
    return static_cast<T>(x & y);
}
template <class T>
T or_(T x, T y) {
  if constexpr (is_bool<T>)
    return x || y;
  else
    return static_cast<T>(x | y);
}
template <class T>
T xor_(T x, T y) {
  if constexpr (is_bool<T>)
    return x != y;
  else
    return static_cast<T>(x ^ y);
}
template <class T>
T not_(T x) {
  if constexpr (is_bool<T>)
    return !x;
  else
    return static_cast<T>(~x);
}
template <class T>
T count_leading_zeros(T x) {
  return static_cast<T>(std::countl_zero(static_cast<Bits<T>>(x)));
}
template <class T>
T popcnt(T x) {
  return static_cast<T>(std::popcount(static_cast<Bits<T>>(x)));
}
template <class T>
T shift_left(T x, T y) {
  constexpr int width = std::numeric_limits<Bits<T>>::digits;
  Bits<T> by = static_cast<Bits<T>>(y);
  return by >= width ? T{0} : static_cast<T>(static_cast<Bits<T>>(x) << by);
}
template <class T>
T shift_right_logical(T x, T y) {
  constexpr int width = std::numeric_limits<Bits<T>>::digits;
  Bits<T> by = static_cast<Bits<T>>(y);
  return by >= width ? T{0} : static_cast<T>(static_cast<Bits<T>>(x) >> by);
}
template <class T>
T shift_right_arithmetic(T x, T y) {
  using S = std::make_signed_t<T>;
  constexpr int width = std::numeric_limits<Bits<T>>::digits;
  Bits<T> by = static_cast<Bits<T>>(y);
  return static_cast<T>(
      static_cast<S>(static_cast<S>(x) >> (by >= width ? width - 1 : static_cast<int>(by))));
}
/// x^y by repeated squaring; a negative exponent gives the integer part of the true value (0 unless
/// |x| = 1).
template <class T>
T integer_pow(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) {
      if (x == 1) return 1;
      if (x == -1) return (y & 1) ? T{-1} : T{1};
      return 0;
    }
  }
  T result = 1;
  for (Bits<T> e = static_cast<Bits<T>>(y); e != 0; e = static_cast<Bits<T>>(e >> 1)) {
    if (e & 1) result = mul(result, x);
    x = mul(x, x);
  }
  return result;
}
template <class T>
T pow(T x, T y) {
  if constexpr (is_float<T>)
    return loop::math::pow(x, y);
  else
    return integer_pow(x, y);
}
/// Nearest integer, ties away from zero.
template <class T>
T round_nearest_afz(T x) {
  T whole = std::trunc(x);
  return std::fabs(x - whole) >= T{0.5} ? whole + (x < 0 ? T{-1} : T{1}) : whole;
}
/// IEEE total order as integers: a < b exactly when total_order(a) < total_order(b).
inline std::int32_t total_order(float x) {
  auto bits = std::bit_cast<std::int32_t>(x);
  return bits < 0 ? bits ^ std::numeric_limits<std::int32_t>::max() : bits;
}
inline std::int64_t total_order(double x) {
  auto bits = std::bit_cast<std::int64_t>(x);
  return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
}
/// Between numbers: to bool is "not zero"; float to integer truncates and saturates, NaN gives 0;
/// integers wrap.
template <class To, class From>
To convert(From x) {
  if constexpr (is_bool<To>) {
    return x != From{0};
  } else if constexpr (is_float<From> && !is_float<To>) {
    if (std::isnan(x)) return 0;
    constexpr int digits = std::numeric_limits<To>::digits;
    const From above =
        std::ldexp(From{1}, digits);  // first value that is too large; exact in any float type
    if (x >= above) return std::numeric_limits<To>::max();
    if (x <= (std::is_signed_v<To> ? -above : From{-1})) return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace strata::op::numbers
