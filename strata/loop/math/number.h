// Number types for algorithms that are written once and run twice.
//
// `Plain<T>` holds a scalar and computes at once; `Traced<T>` holds an instruction and appends to
// its builder. Both offer the same operations with the semantics of loop.h, each one instruction:
// exactly rounded arithmetic, wrapping integers, total shifts and conversions. T is float, double,
// std::int32_t, std::int64_t, or bool (a mask).
//
//   template <template <class> class N>
//   N<float> square_plus_one(N<float> x) { return fma(x, x, 1.0f); }
//
//   square_plus_one(Plain<float>(3.0f)).value;                   // 10
//   square_plus_one(Traced<float>(builder, inst)).inst;          // %7 = fma ...
//
// Constants convert by themselves. A Traced constant takes its builder from the value it meets, so
// at least one operand must be a real value. `select(mask, a, b)` needs a or b to be an N<T>: write
// `N<float>(1.0f)`.
//
// `rarely(mask, value, slow)` is the one thing close to a branch: `value`, except lanes of `mask`,
// which get `slow()`.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "strata/loop/lookup.h"
#include "strata/loop/scale.h"

namespace strata::loop::math {

/// The integer of the same width: float -> int32, double -> int64.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

namespace internal {
template <class T>
using UnsignedOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::i1;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
}

/// Float to integer as loop.h says: truncates, saturates, NaN gives 0.
template <class To, class From>
To saturate(From value) {
  constexpr From limit = static_cast<From>(internal::UnsignedOf<To>{1} << (8 * sizeof(To) - 1));
  if (value != value) return 0;
  if (value >= limit) return std::numeric_limits<To>::max();
  if (value < -limit) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}
}  // namespace internal

// ----------------------------------------------------------------------------------------------------
// Plain

template <class T>
struct Plain {
  T value;
  Plain(T v) : value(v) {}  // NOLINT: constants convert by themselves

  friend Plain operator+(Plain a, Plain b) {
    return wrap(a, b, [](auto x, auto y) { return x + y; });
  }
  friend Plain operator-(Plain a, Plain b) {
    return wrap(a, b, [](auto x, auto y) { return x - y; });
  }
  friend Plain operator*(Plain a, Plain b) {
    return wrap(a, b, [](auto x, auto y) { return x * y; });
  }
  friend Plain operator/(Plain a, Plain b)
    requires std::is_floating_point_v<T>
  {
    return a.value / b.value;
  }
  friend Plain operator-(Plain a)
    requires std::is_floating_point_v<T>
  {
    return -a.value;
  }

  friend Plain operator&(Plain a, Plain b)
    requires std::is_integral_v<T>
  {
    return static_cast<T>(a.value & b.value);
  }
  friend Plain operator|(Plain a, Plain b)
    requires std::is_integral_v<T>
  {
    return static_cast<T>(a.value | b.value);
  }
  friend Plain operator^(Plain a, Plain b)
    requires std::is_integral_v<T>
  {
    return static_cast<T>(a.value ^ b.value);
  }
  friend Plain operator!(Plain a)
    requires std::is_same_v<T, bool>
  {
    return !a.value;
  }
  friend Plain operator<<(Plain a, Plain b)
    requires std::is_integral_v<T>
  {
    using U = internal::UnsignedOf<T>;
    return static_cast<T>(
        static_cast<U>(b.value) < 8 * sizeof(T) ? static_cast<U>(a.value) << b.value : U{0});
  }
  /// Arithmetic: copies of the sign come in.
  friend Plain operator>>(Plain a, Plain b)
    requires std::is_integral_v<T>
  {
    using U = internal::UnsignedOf<T>;
    return static_cast<T>(static_cast<U>(b.value) < 8 * sizeof(T) ? a.value >> b.value
                                                                  : a.value >> (8 * sizeof(T) - 1));
  }

  friend Plain<bool> operator<(Plain a, Plain b) { return a.value < b.value; }
  friend Plain<bool> operator<=(Plain a, Plain b) { return a.value <= b.value; }
  friend Plain<bool> operator>(Plain a, Plain b) { return a.value > b.value; }
  friend Plain<bool> operator>=(Plain a, Plain b) { return a.value >= b.value; }
  friend Plain<bool> operator==(Plain a, Plain b) { return a.value == b.value; }
  friend Plain<bool> operator!=(Plain a, Plain b) { return a.value != b.value; }

  friend Plain fma(Plain a, Plain b, Plain c)
    requires std::is_floating_point_v<T>
  {
    return std::fma(a.value, b.value, c.value);
  }
  /// a 2^k; `power` has k + 2 bias in its low bits (loop/scale.h).
  friend Plain scale(Plain a, Plain, Plain<BitsOf<T>> power)
    requires std::is_floating_point_v<T>
  {
    return scaled(a.value, power.value);
  }
  friend Plain sqrt_rounded(Plain a)
    requires std::is_floating_point_v<T>
  {
    return std::sqrt(a.value);
  }
  friend Plain rint(Plain a)
    requires std::is_floating_point_v<T>
  {
    return std::rint(a.value);
  }
  friend Plain floor(Plain a)
    requires std::is_floating_point_v<T>
  {
    return std::floor(a.value);
  }
  friend Plain trunc(Plain a)
    requires std::is_floating_point_v<T>
  {
    return std::trunc(a.value);
  }
  friend Plain abs(Plain a)
    requires std::is_floating_point_v<T>
  {
    return std::fabs(a.value);
  }
  friend Plain select(Plain<bool> mask, Plain a, Plain b) { return mask.value ? a : b; }
  friend Plain<BitsOf<T>> bits(Plain a)
    requires std::is_floating_point_v<T>
  {
    return std::bit_cast<BitsOf<T>>(a.value);
  }

  template <class F>
  static Plain from_bits(Plain<F> a) {
    return std::bit_cast<T>(a.value);
  }
  template <class U>
  static Plain convert(Plain<U> a) {
    if constexpr (std::is_floating_point_v<U> && std::is_integral_v<T>)
      return internal::saturate<T>(a.value);
    else
      return static_cast<T>(a.value);
  }

  template <class Slow>
  friend Plain rarely(Plain<bool> mask, Plain usual, const Slow& slow) {
    return mask.value ? slow() : usual;
  }

 private:
  template <class Operation>
  static Plain wrap(Plain a, Plain b, Operation operation) {
    if constexpr (std::is_floating_point_v<T>)
      return operation(a.value, b.value);
    else
      return static_cast<T>(operation(static_cast<internal::UnsignedOf<T>>(a.value),
                                      static_cast<internal::UnsignedOf<T>>(b.value)));
  }
};

// ---------------------------------------------------------------------------------------------------
// Traced

template <class T>
struct Traced {
  Builder* builder = nullptr;  // null: a constant that has not met a value yet
  Inst* inst = nullptr;
  T constant{};

  Traced(T c) : constant(c) {}  // NOLINT: constants convert by themselves
  Traced(Builder& b, Inst* i) : builder(&b), inst(i) {
    STRATA_CHECK(i->type.dtype == internal::dtype_of<T>(),
                 "a traced number of type {} got a value of type {}",
                 strata::name(internal::dtype_of<T>()), strata::name(i->type.dtype));
  }

  /// The instruction, a constant's made in `b`.
  Inst* in(Builder& b) const {
    if (inst) return inst;
    if constexpr (std::is_same_v<T, bool>)
      return b.constant_bits(DType::i1, constant);
    else
      return b.constant_bits(internal::dtype_of<T>(),
                             std::bit_cast<internal::UnsignedOf<T>>(constant));
  }

  friend Traced operator+(Traced a, Traced b) { return binary(Opcode::add, a, b); }
  friend Traced operator-(Traced a, Traced b) { return binary(Opcode::sub, a, b); }
  friend Traced operator*(Traced a, Traced b) { return binary(Opcode::mul, a, b); }
  friend Traced operator/(Traced a, Traced b)
    requires std::is_floating_point_v<T>
  {
    return binary(Opcode::div, a, b);
  }
  friend Traced operator-(Traced a)
    requires std::is_floating_point_v<T>
  {
    return a.unary(Opcode::neg);
  }

  friend Traced operator&(Traced a, Traced b)
    requires std::is_integral_v<T>
  {
    return binary(Opcode::and_, a, b);
  }
  friend Traced operator|(Traced a, Traced b)
    requires std::is_integral_v<T>
  {
    return binary(Opcode::or_, a, b);
  }
  friend Traced operator^(Traced a, Traced b)
    requires std::is_integral_v<T>
  {
    return binary(Opcode::xor_, a, b);
  }
  friend Traced operator!(Traced a)
    requires std::is_same_v<T, bool>
  {
    return a.unary(Opcode::not_);
  }
  friend Traced operator<<(Traced a, Traced b)
    requires std::is_integral_v<T>
  {
    return binary(Opcode::shl, a, b);
  }
  friend Traced operator>>(Traced a, Traced b)
    requires std::is_integral_v<T>
  {
    return binary(Opcode::shr, a, b);
  }

  friend Traced<bool> operator<(Traced a, Traced b) { return compare(Compare::lt, a, b); }
  friend Traced<bool> operator<=(Traced a, Traced b) { return compare(Compare::le, a, b); }
  friend Traced<bool> operator>(Traced a, Traced b) { return compare(Compare::gt, a, b); }
  friend Traced<bool> operator>=(Traced a, Traced b) { return compare(Compare::ge, a, b); }
  friend Traced<bool> operator==(Traced a, Traced b) { return compare(Compare::eq, a, b); }
  friend Traced<bool> operator!=(Traced a, Traced b) { return compare(Compare::ne, a, b); }

  friend Traced fma(Traced a, Traced b, Traced c)
    requires std::is_floating_point_v<T>
  {
    Builder& at = where(a, b, c);
    return {at, at.fma(a.in(at), b.in(at), c.in(at))};
  }
  friend Traced scale(Traced a, Traced k, Traced<BitsOf<T>> power)
    requires std::is_floating_point_v<T>
  {
    Builder& at = where(a, k);
    std::vector<Inst*> args{a.in(at), k.in(at), power.in(at)};
    VType type{internal::dtype_of<T>(), join_lanes(args)};
    return {at, at.call(std::string(kScale), type, std::move(args))};
  }
  friend Traced sqrt_rounded(Traced a)
    requires std::is_floating_point_v<T>
  {
    return a.unary(Opcode::sqrt);
  }
  friend Traced rint(Traced a)
    requires std::is_floating_point_v<T>
  {
    return a.unary(Opcode::rint);
  }
  friend Traced floor(Traced a)
    requires std::is_floating_point_v<T>
  {
    return a.unary(Opcode::floor);
  }
  friend Traced trunc(Traced a)
    requires std::is_floating_point_v<T>
  {
    return a.unary(Opcode::trunc);
  }
  friend Traced abs(Traced a)
    requires std::is_floating_point_v<T>
  {
    return a.unary(Opcode::abs);
  }
  friend Traced select(Traced<bool> mask, Traced a, Traced b) {
    Builder& at = *mask.builder;
    return {at, at.select(mask.inst, a.in(at), b.in(at))};
  }
  friend Traced<BitsOf<T>> bits(Traced a)
    requires std::is_floating_point_v<T>
  {
    return {*a.builder, a.builder->bitcast(internal::dtype_of<BitsOf<T>>(), a.inst)};
  }

  template <class F>
  static Traced from_bits(Traced<F> a) {
    return {*a.builder, a.builder->bitcast(internal::dtype_of<T>(), a.inst)};
  }
  template <class U>
  static Traced convert(Traced<U> a) {
    return {*a.builder, a.builder->convert(internal::dtype_of<T>(), a.inst)};
  }

  /// A strip takes the slow way together when any of its lanes must; each lane gets only its own
  /// result.
  template <class Slow>
  friend Traced rarely(Traced<bool> mask, Traced usual, const Slow& slow) {
    Builder& at = *mask.builder;
    Inst* first = usual.in(at);  // wider than the mask where only the mask is of uniform values
    Inst* result = at.local(first, std::max(mask.inst->type.lanes, first->type.lanes));
    at.if_(at.reduce(Opcode::or_, mask.inst),
           [&] { at.set(result, select(mask, slow(), usual).in(at)); });
    return {at, at.get(result)};
  }

 private:
  template <class... Values>
  static Builder& where(const Values&... values) {
    Builder* found = nullptr;
    ((found = values.builder ? values.builder : found), ...);
    STRATA_CHECK(found, "an operation on constants alone has no kernel to stand in");
    return *found;
  }
  Traced unary(Opcode code) const { return {*builder, builder->unary(code, inst)}; }
  static Traced binary(Opcode code, Traced a, Traced b) {
    Builder& at = where(a, b);
    return {at, at.binary(code, a.in(at), b.in(at))};
  }
  static Traced<bool> compare(Compare c, Traced a, Traced b) {
    Builder& at = where(a, b);
    return {at, at.compare(c, a.in(at), b.in(at))};
  }
};

/// The entry of a table that the low bits of `index` number (loop/lookup.h).
template <std::size_t Entries>
Plain<float> lookup(const float (&table)[Entries], Plain<std::int32_t> index) {
  static_assert(is_lookup_size(Entries));
  return table[static_cast<std::uint32_t>(index.value) % Entries];
}
template <std::size_t Entries>
Traced<float> lookup(const float (&table)[Entries], Traced<std::int32_t> index) {
  static_assert(is_lookup_size(Entries));
  Builder& b = *index.builder;
  std::vector<Inst*> args{index.inst};
  for (float entry : table) args.push_back(Traced<float>(entry).in(b));
  return {b, b.call(std::string(kLookup), {DType::f32, index.inst->type.lanes}, std::move(args))};
}

// ------------------------------------------------------------------------------------------------
// for both

/// c0 + c1 x + c2 x^2 + ..., by Horner's rule in fma.
template <template <class> class N, class T, std::size_t Terms>
N<T> polynomial(N<T> x, const T (&c)[Terms]) {
  N<T> sum(c[Terms - 1]);
  for (std::size_t i = Terms - 1; i-- > 0;) sum = fma(sum, x, N<T>(c[i]));
  return sum;
}

/// The same by even and odd powers apart, with the square of x: half as long a chain. What a
/// processor sees at once of a loop is a few hundred instructions, so functions that take dozens an
/// element wait for long chains even where elements do not.
template <template <class> class N, class T, std::size_t Terms>
N<T> polynomial_by_parity(N<T> x, N<T> square, const T (&c)[Terms]) {
  N<T> sums[2] = {N<T>(c[(Terms - 1) / 2 * 2]), N<T>(c[Terms / 2 * 2 - 1])};
  for (std::size_t i = Terms - 2; i-- > 0;) sums[i % 2] = fma(sums[i % 2], square, N<T>(c[i]));
  return fma(sums[1], x, sums[0]);
}

/// The magnitude of a with the sign of b.
template <template <class> class N, class T>
N<T> copysign(N<T> a, N<T> b) {
  using I = BitsOf<T>;
  constexpr I sign = std::numeric_limits<I>::min();
  return N<T>::from_bits((bits(a) & N<I>(~sign)) | (bits(b) & N<I>(sign)));
}

/// The format: stored bits of the mantissa, the exponent's bias, and the number whose addition
/// makes the sum whole (and leaves that whole number, below 2^(kMantissa - 1) in magnitude, in the
/// low bits).
template <class T>
inline constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
template <class T>
inline constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
template <class T>
inline constexpr T kWholeShift = T(BitsOf<T>(3) << (kMantissa<T> - 1));

/// A small whole number as a float. For f64 by its bits: many machines have no conversion of 64-bit
/// integers.
template <template <class> class N, class T>
N<T> whole_of(N<BitsOf<T>> n) {
  if constexpr (sizeof(T) == 4)
    return N<T>::convert(n);
  else
    return N<T>::from_bits(n + std::bit_cast<BitsOf<T>>(kWholeShift<T>)) - kWholeShift<T>;
}

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

}  // namespace strata::loop::math
