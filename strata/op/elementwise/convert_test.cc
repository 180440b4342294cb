// convert rounds once, and takes the real part of complex numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/type/minifloat.h"

namespace strata::op {
namespace {

Literal converted(const Literal& x, DType to) {
  Block block;
  Builder b(block);
  block.results = {convert(b, block.add_argument(x.type()), to)};
  return evaluate(block, std::vector{x})[0];
}

/// The numbers of a type that are not negative, in order.
std::vector<double> numbers_of(DType dtype) {
  std::vector<double> out;
  for (int bits = 0; bits < 1 << std::min(bit_width(dtype) - 1, 15); ++bits) {
    Literal x = Literal::full(Type::scalar(dtype), 0);
    std::memcpy(x.mutable_data(), &bits, byte_width(dtype));
    if (std::isfinite(x.number(0))) out.push_back(x.number(0));
  }
  return out;
}

/// Beside the middle of two neighbours, where a first rounding to f32 would fall on the middle.
TEST(Convert, an_f64_rounds_once) {
  for (DType to : {DType::f16, DType::bf16, DType::f8E4M3FN, DType::f8E5M2, DType::f8E3M4,
                   DType::f8E4M3B11FNUZ, DType::f4E2M1FN, DType::f6E3M2FN}) {
    const std::vector<double> all = numbers_of(to);
    std::vector<double> given, want;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const double middle = (all[i] + all[i + 1]) / 2;
      for (double sign : {1.0, -1.0})
        for (bool up : {false, true}) {
          given.push_back(sign * std::nextafter(middle, up ? 1e300 : 0.0));
          want.push_back(sign * all[i + (up ? 1 : 0)]);
        }
    }
    const auto count = static_cast<std::int64_t>(given.size());
    const Literal got = converted(Literal::of<double>(Shape{count}, given), to);
    for (std::int64_t i = 0; i < count; ++i)
      ASSERT_EQ(got.number(i), want[static_cast<std::size_t>(i)])
          << given[static_cast<std::size_t>(i)] << " as " << name(to);
    // What a literal is filled with rounds alike.
    for (std::int64_t i = 0; i < count; i += 97)
      ASSERT_EQ(Literal::full(Type::scalar(to), given[static_cast<std::size_t>(i)]).number(0),
                want[static_cast<std::size_t>(i)]);
  }
}

TEST(Convert, an_f64_keeps_what_is_no_finite_number) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (DType to : {DType::f16, DType::bf16}) {
    const Literal got = converted(
        Literal::of<double>({6}, {kInfinity, -kInfinity, 1e300, -1e300, std::nan(""), -0.0}), to);
    EXPECT_EQ(got.number(0), kInfinity);
    EXPECT_EQ(got.number(1), -kInfinity);
    EXPECT_EQ(got.number(2), kInfinity);
    EXPECT_EQ(got.number(3), -kInfinity);
    EXPECT_TRUE(std::isnan(got.number(4)));
    EXPECT_TRUE(got.number(5) == 0 && std::signbit(got.number(5)));
  }
  EXPECT_EQ(converted(Literal::scalar(65519.999999), DType::f16).number(0), 65504);
  EXPECT_EQ(converted(Literal::scalar(65520.0), DType::f16).number(0), kInfinity);
}

/// As ml_dtypes and XLA have it: 2^30 + 2^22 + 1 is a tie in f32's digits.
TEST(Convert, integers_go_through_f32) {
  const std::int64_t x = (1 << 30) + (1 << 22) + 1;
  EXPECT_EQ(converted(Literal::scalar(x), DType::bf16).number(0), 1 << 30);
  EXPECT_EQ(converted(Literal::scalar(std::int32_t{25165823}), DType::f8E8M0FNU).number(0),
            1 << 25);
}

TEST(Convert, powers_of_two_are_those_of_ml_dtypes) {
  auto bits = [](double x) {
    return int{
        static_cast<std::uint8_t>(converted(Literal::scalar(x), DType::f8E8M0FNU).data()[0])};
  };
  EXPECT_EQ(bits(1.0), 127);
  EXPECT_EQ(bits(1.5), 128);
  EXPECT_EQ(bits(std::nextafter(1.5, 0.0)), 127);
  EXPECT_EQ(bits(0x1p-126), 1);
  EXPECT_EQ(bits(0x1.01p-127), 1);  // all above the smallest goes to the next
  EXPECT_EQ(bits(0x1p-127), 0);
  EXPECT_EQ(bits(0x1p-149), 0);
  for (double none : {0.0, -0.0, 1e-300, -1.0, -0x1p-130, 0x1.8p127, 1e300, std::nan("")})
    EXPECT_EQ(bits(none), 255) << none;
}

TEST(Convert, complex_numbers_give_their_real_part) {
  using C = std::complex<float>;
  const Literal x = Literal::of<C>({4}, {C(0, 2), C(0.5, 0), C(-0.0f, 7), C(std::nanf(""), 0)});
  const Literal truth = converted(x, DType::i1);
  EXPECT_EQ(truth.integer(0), 0);
  EXPECT_EQ(truth.integer(1), 1);
  EXPECT_EQ(truth.integer(2), 0);
  EXPECT_EQ(truth.integer(3), 1);
  EXPECT_EQ(converted(x, DType::f8E4M3FN).number(1), 0.5);
  EXPECT_EQ(converted(x, DType::i32).integer(0), 0);
}

}  // namespace
}  // namespace strata::op
