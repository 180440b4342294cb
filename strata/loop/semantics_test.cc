// Every opcode against its definition, at the edges of every type.
#include "strata/loop/semantics.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "strata/loop/interpreter.h"
#include "strata/loop/loop.h"

namespace strata::loop {
namespace {

using Wide = __int128;
using semantics::Bits;

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::ui8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::ui16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::ui32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::ui64;
}
template <class T>
Bits bits_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return semantics::of(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <class T>
std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    T inf = L::infinity();
    return {T(0),      T(-0.0),  T(1),       T(-1),          T(0.5),    T(-0.5),         T(1.5),
            T(2.5),    T(-2.5),  T(3),       T(7),           L::min(),  L::denorm_min(), L::max(),
            -L::max(), inf,      -inf,       L::quiet_NaN(), T(0x1p31), T(-0x1p31),      T(0x1p63),
            T(0x1p64), T(255.5), T(-128.75), T(16777217),    T(1) / 3};
  } else {
    return {
        L::min(), T(L::min() + 1), T(-3), T(-2),  T(-1),           T(0),    T(1), T(2), T(3), T(7),
        T(8),     T(31),           T(64), T(100), T(L::max() - 1), L::max()};
  }
}

/// Equal bits, or both NaN.
void expect_same(DType dtype, Bits actual, Bits expected, const std::string& what) {
  bool nans = is_float(dtype) && std::isnan(semantics::widen(dtype, actual)) &&
              std::isnan(semantics::widen(dtype, expected));
  EXPECT_TRUE(nans || actual == expected)
      << what << ": 0x" << std::hex << actual << ", not 0x" << expected;
}

template <class T>
void check_unary(Opcode code, T (*definition)(T)) {
  DType dtype = dtype_of<T>();
  ASSERT_TRUE(accepts(code, dtype));
  for (T a : edges<T>())
    expect_same(dtype, semantics::unary(code, dtype, bits_of(a)), bits_of(definition(a)),
                fmt::format("{} {} {}", strata::name(dtype), name(code), a));
}
template <class T>
void check_binary(Opcode code, T (*definition)(T, T)) {
  DType dtype = dtype_of<T>();
  ASSERT_TRUE(accepts(code, dtype));
  for (T a : edges<T>())
    for (T b : edges<T>())
      expect_same(dtype, semantics::binary(code, dtype, bits_of(a), bits_of(b)),
                  bits_of(definition(a, b)),
                  fmt::format("{} {} {} {}", strata::name(dtype), a, name(code), b));
}

template <class T>
class Integers : public ::testing::Test {};
using IntegerTypes = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, Wrap) {
  using T = TypeParam;
  check_binary<T>(Opcode::add, [](T a, T b) { return static_cast<T>(Wide(a) + b); });
  check_binary<T>(Opcode::sub, [](T a, T b) { return static_cast<T>(Wide(a) - b); });
  check_binary<T>(Opcode::mul, [](T a, T b) {
    return static_cast<T>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
  });
  check_unary<T>(Opcode::neg, [](T a) { return static_cast<T>(-Wide(a)); });
  check_unary<T>(Opcode::abs, [](T a) { return static_cast<T>(a < 0 ? -Wide(a) : Wide(a)); });
}
TYPED_TEST(Integers, DivideTotally) {
  using T = TypeParam;
  check_binary<T>(Opcode::div, [](T a, T b) {
    return b == 0 ? static_cast<T>(-1) : static_cast<T>(Wide(a) / Wide(b));
  });
  check_binary<T>(Opcode::rem,
                  [](T a, T b) { return b == 0 ? a : static_cast<T>(Wide(a) % Wide(b)); });
}
TYPED_TEST(Integers, AreOrdered) {
  using T = TypeParam;
  check_binary<T>(Opcode::min, [](T a, T b) { return b < a ? b : a; });
  check_binary<T>(Opcode::max, [](T a, T b) { return b < a ? a : b; });
  for (T a : edges<T>()) {
    for (T b : edges<T>()) {
      bool expected[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
      for (int c = 0; c < 6; ++c)
        EXPECT_EQ(
            semantics::compare(static_cast<Compare>(c), dtype_of<T>(), bits_of(a), bits_of(b)),
            expected[c])
            << +a << " " << +b;
    }
  }
}
TYPED_TEST(Integers, HaveBits) {
  using T = TypeParam;
  constexpr int kWidth = 8 * sizeof(T);
  check_binary<T>(Opcode::and_, [](T a, T b) { return static_cast<T>(a & b); });
  check_binary<T>(Opcode::or_, [](T a, T b) { return static_cast<T>(a | b); });
  check_binary<T>(Opcode::xor_, [](T a, T b) { return static_cast<T>(a ^ b); });
  check_unary<T>(Opcode::not_, [](T a) { return static_cast<T>(~a); });
  check_unary<T>(Opcode::popcnt, [](T a) {
    int n = 0;
    for (int i = 0; i < kWidth; ++i) n += static_cast<int>((a >> i) & 1);
    return static_cast<T>(n);
  });
  check_unary<T>(Opcode::clz, [](T a) {
    int n = 0;
    while (n < kWidth && !((a >> (kWidth - 1 - n)) & 1)) ++n;
    return static_cast<T>(n);
  });
}
TYPED_TEST(Integers, ShiftTotally) {
  using T = TypeParam;
  constexpr int kWidth = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  check_binary<T>(Opcode::shl, [](T a, T b) {
    return U(b) >= kWidth ? T(0) : static_cast<T>(static_cast<unsigned __int128>(a) << U(b));
  });
  check_binary<T>(Opcode::shr, [](T a, T b) {
    return U(b) >= kWidth ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(Wide(a) >> U(b));
  });
}

template <class T>
class Floats : public ::testing::Test {};
using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, FloatTypes);

TYPED_TEST(Floats, ComputeAsIeee) {
  using T = TypeParam;
  check_binary<T>(Opcode::add, [](T a, T b) { return a + b; });
  check_binary<T>(Opcode::sub, [](T a, T b) { return a - b; });
  check_binary<T>(Opcode::mul, [](T a, T b) { return a * b; });
  check_binary<T>(Opcode::div, [](T a, T b) { return a / b; });
  check_binary<T>(Opcode::rem, [](T a, T b) { return std::fmod(a, b); });
  check_unary<T>(Opcode::neg, [](T a) { return -a; });
  check_unary<T>(Opcode::abs, [](T a) { return std::fabs(a); });
  check_unary<T>(Opcode::sqrt, [](T a) { return std::sqrt(a); });
}
TYPED_TEST(Floats, RoundToIntegrals) {
  using T = TypeParam;
  check_unary<T>(Opcode::floor, [](T a) { return std::floor(a); });
  check_unary<T>(Opcode::ceil, [](T a) { return std::ceil(a); });
  check_unary<T>(Opcode::trunc, [](T a) { return std::trunc(a); });
  check_unary<T>(Opcode::rint, [](T a) {
    T nearest = std::isinf(a)
                    ? a
                    : a - std::remainder(a, T(1));  // remainder takes the even quotient at ties
    return std::copysign(nearest, a);
  });
}
TYPED_TEST(Floats, MinAndMaxPropagateNanAndOrderZeros) {
  using T = TypeParam;
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  check_binary<T>(Opcode::min, [](T a, T b) {
    return a != a || b != b ? kNan : a < b || (a == b && std::signbit(a)) ? a : b;
  });
  check_binary<T>(Opcode::max, [](T a, T b) {
    return a != a || b != b ? kNan : a > b || (a == b && !std::signbit(a)) ? a : b;
  });
}
TYPED_TEST(Floats, CompareOrderedExceptNotEqual) {
  using T = TypeParam;
  T nan = std::numeric_limits<T>::quiet_NaN();
  for (int c = 0; c < 6; ++c) {
    auto code = static_cast<Compare>(c);
    EXPECT_EQ(semantics::compare(code, dtype_of<T>(), bits_of(nan), bits_of(T(1))),
              code == Compare::ne);
    bool reflexive = code == Compare::eq || code == Compare::le || code == Compare::ge;
    EXPECT_EQ(semantics::compare(code, dtype_of<T>(), bits_of(T(0)), bits_of(T(-0.0))), reflexive);
  }
}
TEST(Fma, RoundsOnce) {
  float a = 1 + 0x1p-12f, b = 1 - 0x1p-12f;
  EXPECT_EQ(semantics::fma(DType::f32, bits_of(a), bits_of(b), bits_of(-1.0f)), bits_of(-0x1p-24f));
  double x = 1 + 0x1p-30, y = 1 - 0x1p-30;
  EXPECT_EQ(semantics::fma(DType::f64, bits_of(x), bits_of(y), bits_of(-1.0)), bits_of(-0x1p-60));
}
TEST(Dot2, AddsTheLowProductFirst) {
  auto pair = [](float low, float high) {
    return Bits{bf16_bits(low)} | Bits{bf16_bits(high)} << 16;
  };
  EXPECT_EQ(semantics::dot2(DType::f32, bits_of(10.0f), pair(2, 3), pair(5, 7)), bits_of(41.0f));
  float big = 0x1p60f;  // 1 + big - big: the low product is lost in the first step
  EXPECT_EQ(semantics::dot2(DType::f32, bits_of(1.0f), pair(big, -big), pair(1, 1)), bits_of(0.0f));
}

TEST(Dot2, OfIntegersIsExactModulo32Bits) {
  auto pair = [](std::int16_t low, std::int16_t high) {
    return Bits{static_cast<std::uint16_t>(low)} | Bits{static_cast<std::uint16_t>(high)} << 16;
  };
  EXPECT_EQ(semantics::dot2(DType::i32, 10, pair(2, -3), pair(5, 7)),
            Bits{static_cast<std::uint32_t>(10 + 10 - 21)});
  EXPECT_EQ(semantics::dot2(DType::i32, 0, pair(-32768, -32768), pair(-32768, -32768)),
            Bits{0x80000000u});
  EXPECT_EQ(semantics::dot2(DType::i32, 0x80000000u, pair(-32768, -32768), pair(-32768, -32768)),
            Bits{0});
}

TEST(Dot4, MultipliesUnsignedBySignedBytesModulo32Bits) {
  auto four = [](int a, int b, int c, int d) {
    Bits out = 0;
    for (int x : {d, c, b, a}) out = out << 8 | static_cast<std::uint8_t>(x);
    return out;
  };
  EXPECT_EQ(semantics::dot4(10, four(2, 0, 1, 255), four(-3, 5, 127, -128)),
            Bits{static_cast<std::uint32_t>(10 - 6 + 127 - 255 * 128)});
  EXPECT_EQ(semantics::dot4(0x80000000u, four(1, 0, 0, 0), four(-1, 0, 0, 0)), Bits{0x7fffffffu});
}

// ---- conversions

template <class To, class From>
void check_convert_to_integer() {
  using L = std::numeric_limits<To>;
  for (From a : edges<From>()) {
    To expected = 0;
    if constexpr (std::is_floating_point_v<From>) {
      long double value = std::trunc(static_cast<long double>(a));  // 64 bits of mantissa: exact
      if (!std::isnan(a))
        expected = value >= L::max()   ? L::max()
                   : value <= L::min() ? L::min()
                                       : static_cast<To>(value);
    } else {
      expected = static_cast<To>(a);
    }
    EXPECT_EQ(semantics::convert(dtype_of<To>(), dtype_of<From>(), bits_of(a)), bits_of(expected))
        << a << " from " << strata::name(dtype_of<From>()) << " to "
        << strata::name(dtype_of<To>());
  }
}
TYPED_TEST(Integers, ConvertFromAll) {
  using T = TypeParam;
  check_convert_to_integer<T, float>();
  check_convert_to_integer<T, double>();
  check_convert_to_integer<T, std::int8_t>();
  check_convert_to_integer<T, std::uint16_t>();
  check_convert_to_integer<T, std::int32_t>();
  check_convert_to_integer<T, std::int64_t>();
  check_convert_to_integer<T, std::uint64_t>();
}
TYPED_TEST(Integers, ConvertToFloats) {
  using T = TypeParam;
  for (T a : edges<T>()) {
    EXPECT_EQ(semantics::convert(DType::f32, dtype_of<T>(), bits_of(a)),
              bits_of(static_cast<float>(a)))
        << +a;
    EXPECT_EQ(semantics::convert(DType::f64, dtype_of<T>(), bits_of(a)),
              bits_of(static_cast<double>(a)))
        << +a;
    EXPECT_EQ(semantics::convert(DType::i1, dtype_of<T>(), bits_of(a)), Bits{a != 0}) << +a;
  }
}
TYPED_TEST(Floats, ConvertToBooleansAndHalves) {
  using T = TypeParam;
  for (T a : edges<T>())
    EXPECT_EQ(semantics::convert(DType::i1, dtype_of<T>(), bits_of(a)), Bits{!(a == 0)}) << a;
  EXPECT_EQ(semantics::convert(DType::bf16, dtype_of<T>(), bits_of(T(1) / 3)), Bits{0x3eab});
  EXPECT_EQ(semantics::convert(DType::f16, dtype_of<T>(), bits_of(T(65520))), Bits{0x7c00});
  EXPECT_EQ(semantics::convert(dtype_of<T>(), DType::bf16, 0x3fc0), bits_of(T(1.5)));
  EXPECT_EQ(semantics::convert(dtype_of<T>(), DType::f16, 0x0001), bits_of(T(0x1p-24)));
}

// ---- what has lanes

TEST(Lanes, ReduceByHalving) {
  // 1e8 + 1 is lost in f32, so the order shows: ((v0 + v2) + (v1 + v3)).
  Kernel kernel("k");
  Builder b(kernel);
  Ref* x = b.parameter(DType::f32, 4, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, 2, Ref::Mode::out);
  Inst* sum = b.local(b.constant(DType::f32, 0), 4);
  b.vector(0, 4, 4, [&](Index i) { b.set(sum, b.load(x, i)); });
  b.store(y, 0, b.reduce(Opcode::add, b.get(sum)));
  b.store(y, 1, b.extract(b.get(sum), 2));
  float in[] = {1e8f, 1, -1e8f, 2}, out[2];
  void* parameters[] = {in, out};
  interpret(kernel, parameters);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], -1e8f);
}

TEST(Lanes, BeyondTheEndAreMasked) {
  Kernel kernel("k");
  Builder b(kernel);
  Ref* x = b.parameter(DType::i32, 5, Ref::Mode::in);
  Ref* y = b.parameter(DType::i32, 5, Ref::Mode::out);
  Ref* total = b.parameter(DType::i32, 1, Ref::Mode::out);
  Inst* sum = b.local(b.constant_int(DType::i32, 100), 4);
  b.vector(0, 5, 4, [&](Index i) {
    b.set(sum, b.binary(Opcode::add, b.get(sum), b.load(x, i)));
    b.store(y, i, b.get(sum));
  });
  b.store(total, 0, b.reduce(Opcode::add, b.get(sum)));
  std::int32_t in[] = {1, 2, 3, 4, 5}, out[5], all;
  void* parameters[] = {in, out, &all};
  interpret(kernel, parameters);
  EXPECT_EQ(out[4], 106);
  EXPECT_EQ(all, 415);
}

TEST(Interpreter, ChecksBounds) {
  Kernel kernel("k");
  Builder b(kernel);
  Ref* x = b.parameter(DType::i32, 5, Ref::Mode::in);
  Ref* y = b.parameter(DType::i32, 5, Ref::Mode::out);
  b.for_(0, 6, 1, [&](Index i) { b.store(y, b.mod(i, 5), b.load(x, i)); });
  std::int32_t in[5] = {}, out[5];
  void* parameters[] = {in, out};
  EXPECT_THROW(interpret(kernel, parameters), InternalError);
}

}  // namespace
}  // namespace strata::loop
