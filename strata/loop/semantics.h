// What each scalar instruction computes, on bits: the one definition that constant folding and the
// interpreter share and that machine code must equal.
//
// A value is the bits of its storage, zero-extended to 64: f32 bits, bf16 bits, two's complement, 0
// or 1 for i1.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "strata/base/check.h"
#include "strata/loop/loop.h"
#include "strata/loop/scale.h"
#include "strata/type/dtype.h"
#include "strata/type/float.h"
#include "strata/type/round_to_odd.h"

namespace strata::loop::semantics {

using Bits = std::uint64_t;

/// `bits` cut to the width of the type.
inline Bits trim(DType dtype, Bits bits) {
  int width = bit_width(dtype);
  return width >= 64 ? bits : bits & ((Bits{1} << width) - 1);
}
/// The number an integer's bits stand for (unsigned ones above INT64_MAX wrap).
inline std::int64_t as_int(DType dtype, Bits bits) {
  if (!is_signed(dtype)) return static_cast<std::int64_t>(bits);
  int shift = 64 - bit_width(dtype);
  return static_cast<std::int64_t>(bits << shift) >> shift;
}
inline float as_f32(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
inline double as_f64(Bits bits) { return std::bit_cast<double>(bits); }
inline Bits of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline Bits of(double value) { return std::bit_cast<std::uint64_t>(value); }

inline bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }
/// The value of a float of any type, exactly.
inline double widen(DType dtype, Bits bits) {
  if (dtype == DType::f64) return as_f64(bits);
  if (dtype == DType::f32) return as_f32(bits);
  auto half = static_cast<std::uint16_t>(bits);
  return dtype == DType::bf16 ? bf16_value(half) : f16_value(half);
}

template <class T>
T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T>
T float_binary(Opcode code, T a, T b) {
  switch (code) {
    case Opcode::add: return a + b;
    case Opcode::sub: return a - b;
    case Opcode::mul: return a * b;
    case Opcode::div: return a / b;
    case Opcode::rem: return std::fmod(a, b);
    case Opcode::min: return minimum(a, b);
    case Opcode::max: return maximum(a, b);
    default: STRATA_UNREACHABLE("{} of floats", name(code));
  }
}
template <class T>
T float_unary(Opcode code, T a) {
  switch (code) {
    case Opcode::sqrt: return std::sqrt(a);
    case Opcode::floor: return std::floor(a);
    case Opcode::ceil: return std::ceil(a);
    case Opcode::trunc: return std::trunc(a);
    case Opcode::rint: return std::nearbyint(a);
    default: STRATA_UNREACHABLE("{} of a float", name(code));
  }
}

inline Bits signed_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return ~Bits{0};
  return b == -1 ? Bits{0} - static_cast<Bits>(a) : static_cast<Bits>(a / b);
}
inline Bits signed_remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return static_cast<Bits>(a);
  return b == -1 ? 0 : static_cast<Bits>(a % b);
}
inline Bits shift(Opcode code, DType dtype, Bits a, Bits count) {
  auto width = static_cast<Bits>(bit_width(dtype));
  if (code == Opcode::shl) return count >= width ? 0 : a << count;
  if (!is_signed(dtype)) return count >= width ? 0 : a >> count;
  return static_cast<Bits>(as_int(dtype, a) >> (count >= width ? width - 1 : count));
}
inline Bits integer_binary(Opcode code, DType dtype, Bits a, Bits b) {
  std::int64_t sa = as_int(dtype, a), sb = as_int(dtype, b);
  bool less = is_signed(dtype) ? sa < sb : a < b;
  switch (code) {
    case Opcode::add: return a + b;
    case Opcode::sub: return a - b;
    case Opcode::mul: return a * b;
    case Opcode::div: return is_signed(dtype) ? signed_divide(sa, sb) : b == 0 ? ~Bits{0} : a / b;
    case Opcode::rem: return is_signed(dtype) ? signed_remainder(sa, sb) : b == 0 ? a : a % b;
    case Opcode::min: return less ? a : b;
    case Opcode::max: return less ? b : a;
    case Opcode::and_: return a & b;
    case Opcode::or_: return a | b;
    case Opcode::xor_: return a ^ b;
    case Opcode::shl:
    case Opcode::shr: return shift(code, dtype, a, b);
    default: STRATA_UNREACHABLE("{} of integers", name(code));
  }
}

/// add .. shr.
inline Bits binary(Opcode code, DType dtype, Bits a, Bits b) {
  if (dtype == DType::f32) return of(float_binary(code, as_f32(a), as_f32(b)));
  if (dtype == DType::f64) return of(float_binary(code, as_f64(a), as_f64(b)));
  return trim(dtype, integer_binary(code, dtype, a, b));
}

/// neg .. clz.
inline Bits unary(Opcode code, DType dtype, Bits a) {
  if (is_float(dtype)) {
    Bits sign = Bits{1} << (bit_width(dtype) - 1);
    if (code == Opcode::neg) return a ^ sign;
    if (code == Opcode::abs) return a & ~sign;
    return dtype == DType::f32 ? of(float_unary(code, as_f32(a)))
                               : of(float_unary(code, as_f64(a)));
  }
  switch (code) {
    case Opcode::neg: return trim(dtype, Bits{0} - a);
    case Opcode::abs:
      return as_int(dtype, a) < 0 && is_signed(dtype) ? trim(dtype, Bits{0} - a) : a;
    case Opcode::not_: return trim(dtype, ~a);
    case Opcode::popcnt: return static_cast<Bits>(std::popcount(a));
    case Opcode::clz: return static_cast<Bits>(std::countl_zero(a) - (64 - bit_width(dtype)));
    default: STRATA_UNREACHABLE("{} of an integer", name(code));
  }
}

inline Bits fma(DType dtype, Bits a, Bits b, Bits c) {
  if (dtype == DType::f32) return of(std::fma(as_f32(a), as_f32(b), as_f32(c)));
  return of(std::fma(as_f64(a), as_f64(b), as_f64(c)));
}
/// x 2^k (loop/scale.h).
inline Bits scale(DType dtype, Bits x, Bits power) {
  if (dtype == DType::f64) return of(scaled(as_f64(x), static_cast<std::int64_t>(power)));
  return of(scaled(as_f32(x), static_cast<std::int32_t>(power)));
}
/// acc: f32; a, b: pairs of bf16. Or acc: i32; a, b: pairs of i16.
inline Bits dot2(DType dtype, Bits acc, Bits a, Bits b) {
  if (dtype == DType::i32) {
    auto product = [&](int shift) {
      return static_cast<std::uint32_t>(static_cast<std::int16_t>(a >> shift) *
                                        static_cast<std::int16_t>(b >> shift));
    };
    return static_cast<std::uint32_t>(acc) + product(0) + product(16);
  }
  auto low = [](Bits pair) { return bf16_value(static_cast<std::uint16_t>(pair)); };
  auto high = [](Bits pair) { return bf16_value(static_cast<std::uint16_t>(pair >> 16)); };
  return of(std::fma(high(a), high(b), std::fma(low(a), low(b), as_f32(acc))));
}

/// acc: i32; a: four ui8; b: four i8.
inline Bits dot4(Bits acc, Bits a, Bits b) {
  auto sum = static_cast<std::uint32_t>(acc);
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<std::uint32_t>(static_cast<std::uint8_t>(a >> shift) *
                                      static_cast<std::int8_t>(b >> shift));
  return sum;
}

template <class T>
bool holds(Compare c, T a, T b) {
  switch (c) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    case Compare::ge: return a >= b;
  }
  STRATA_UNREACHABLE("comparison {}", static_cast<int>(c));
}
inline bool compare(Compare c, DType dtype, Bits a, Bits b) {
  if (is_float(dtype)) return holds(c, widen(dtype, a), widen(dtype, b));
  return is_signed(dtype) ? holds(c, as_int(dtype, a), as_int(dtype, b)) : holds(c, a, b);
}

/// Truncated and saturated; NaN gives 0.
inline Bits integer_of(DType to, double value) {
  if (std::isnan(value)) return 0;
  int width = bit_width(to);
  double above = std::ldexp(1.0, is_signed(to) ? width - 1 : width);
  if (!is_signed(to))
    return value <= 0 ? 0 : value >= above ? trim(to, ~Bits{0}) : static_cast<Bits>(value);
  if (value >= above) return trim(to, ~Bits{0}) >> 1;
  if (value <= -above) return Bits{1} << (width - 1);
  return trim(to, static_cast<Bits>(static_cast<std::int64_t>(value)));
}
inline Bits half_of(DType to, float value) {
  return to == DType::bf16 ? bf16_bits(value) : f16_bits(value);
}
inline Bits float_of_integer(DType to, DType from, Bits a) {
  bool wide = to == DType::f64;
  if (is_signed(from)) {
    std::int64_t n = as_int(from, a);
    if (wide) return of(static_cast<double>(n));
    return is_half(to) ? half_of(to, static_cast<float>(n)) : of(static_cast<float>(n));
  }
  if (wide) return of(static_cast<double>(a));
  return is_half(to) ? half_of(to, static_cast<float>(a)) : of(static_cast<float>(a));
}
inline Bits convert(DType to, DType from, Bits a) {
  if (to == from) return a;
  if (to == DType::i1) return is_float(from) ? widen(from, a) != 0 : a != 0;
  if (!is_float(from)) {
    if (is_float(to)) return float_of_integer(to, from, a);
    return trim(to, static_cast<Bits>(as_int(from, a)));
  }
  double value = widen(from, a);
  if (!is_float(to)) return integer_of(to, value);
  if (to == DType::f64) return of(value);
  return to == DType::f32 ? of(static_cast<float>(value)) : half_of(to, rounded_to_odd(value));
}

}  // namespace strata::loop::semantics
