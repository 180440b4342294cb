// Facts of the reference evaluator that the laws cannot know: values from the specification,
// written down.
#include "strata/op/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "strata/base/error.h"
#include "strata/op/build.h"

namespace strata::op {
namespace {

using ::testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// f of arrays.
template <class F>
Literal run(const Literals& inputs, F&& f) {
  Block block;
  Builder b(block);
  for (const Literal& x : inputs) block.add_argument(x.type());
  block.results = {f(b, block.argument_values())};
  return evaluate(block, inputs)[0];
}
template <class T>
Literal list(std::vector<T> values) {
  return Literal::of<T>({static_cast<std::int64_t>(values.size())}, values);
}
template <class T>
std::vector<T> values(const Literal& x) {
  return {x.span<T>().begin(), x.span<T>().end()};
}

#define UNARY(T, function, ...) \
  values<T>(                    \
      run({list<T>(__VA_ARGS__)}, [](Builder& b, const Values& v) { return function(b, v[0]); }))
#define BINARY(T, function, x, y) \
  values<T>(run({x, y}, [](Builder& b, const Values& v) { return function(b, v[0], v[1]); }))

TEST(Evaluate, IntegersDivideTowardsZeroAndTotally) {
  Literal x = list<std::int32_t>({7, -7, 7, 5, INT32_MIN}),
          y = list<std::int32_t>({2, 2, -2, 0, -1});
  EXPECT_THAT(BINARY(std::int32_t, div, x, y), ElementsAre(3, -3, -3, -1, INT32_MIN));
  EXPECT_THAT(BINARY(std::int32_t, rem, x, y), ElementsAre(1, -1, 1, 5, 0));
}
TEST(Evaluate, IntegersWrap) {
  EXPECT_THAT(BINARY(std::int8_t, add, list<std::int8_t>({127, -128}), list<std::int8_t>({1, -1})),
              ElementsAre(-128, 127));
  EXPECT_THAT(BINARY(std::int32_t, mul, list<std::int32_t>({65536, INT32_MIN}),
                     list<std::int32_t>({65536, -1})),
              ElementsAre(0, INT32_MIN));
  EXPECT_THAT(UNARY(std::int8_t, abs, {-128, -3}), ElementsAre(-128, 3));
}
TEST(Evaluate, IntegerPowers) {
  EXPECT_THAT(BINARY(std::int32_t, pow, list<std::int32_t>({3, -2, 2, 1, -1, -1, 0, 0}),
                     list<std::int32_t>({4, 3, -1, -5, -3, -4, 0, -1})),
              ElementsAre(81, -8, 0, 1, -1, 1, 1, 0));
}
TEST(Evaluate, Shifts) {
  Literal x = list<std::int32_t>({-8, -8, 1, 1}), y = list<std::int32_t>({1, 32, 31, -1});
  EXPECT_THAT(BINARY(std::int32_t, shift_right_arithmetic, x, y), ElementsAre(-4, -1, 0, 0));
  EXPECT_THAT(BINARY(std::int32_t, shift_right_logical, x, y), ElementsAre(0x7ffffffc, 0, 0, 0));
  EXPECT_THAT(BINARY(std::int32_t, shift_left, x, y), ElementsAre(-16, 0, INT32_MIN, 0));
}
TEST(Evaluate, Bits) {
  EXPECT_THAT(UNARY(std::uint8_t, popcnt, {0, 255, 0x81}), ElementsAre(0, 8, 2));
  EXPECT_THAT(UNARY(std::uint8_t, not_, {0, 255, 0x81}), ElementsAre(255, 0, 0x7e));
}
TEST(Evaluate, BooleanArithmeticIsLogic) {
  Literal x = list<bool>({false, false, true, true}), y = list<bool>({false, true, false, true});
  EXPECT_THAT(BINARY(bool, add, x, y), ElementsAre(false, true, true, true));
  EXPECT_THAT(BINARY(bool, mul, x, y), ElementsAre(false, false, false, true));
  EXPECT_THAT(BINARY(bool, max, x, y), ElementsAre(false, true, true, true));
  EXPECT_THAT(BINARY(bool, xor_, x, y), ElementsAre(false, true, true, false));
}
TEST(Evaluate, RoundsTies) {
  EXPECT_THAT(UNARY(float, round_nearest_even, {0.5f, 1.5f, 2.5f, -0.5f, 0.4f}),
              ElementsAre(0, 2, 2, -0.0f, 0));
  EXPECT_THAT(UNARY(float, round_nearest_afz, {0.5f, 1.5f, 2.5f, -0.5f, 0.49999997f}),
              ElementsAre(1, 2, 3, -1, 0));
  EXPECT_THAT(UNARY(float, floor, {1.5f, -1.5f}), ElementsAre(1, -2));
  EXPECT_THAT(UNARY(float, ceil, {1.5f, -1.5f}), ElementsAre(2, -1));
}
TEST(Evaluate, MaximumAndMinimumPropagateNaN) {
  auto max_of = BINARY(float, max, list<float>({1, kNaN, 1}), list<float>({kNaN, 1, -kInf}));
  EXPECT_TRUE(std::isnan(max_of[0]) && std::isnan(max_of[1]));
  EXPECT_EQ(max_of[2], 1);
  EXPECT_TRUE(std::signbit(BINARY(float, min, list<float>({0.0f}), list<float>({-0.0f}))[0]));
}
TEST(Evaluate, SignKeepsZerosAndNaN) {
  auto sign_of = UNARY(float, sign, {-3, 7, -0.0f, kNaN});
  EXPECT_EQ(sign_of[0], -1);
  EXPECT_EQ(sign_of[1], 1);
  EXPECT_TRUE(sign_of[2] == 0 && std::signbit(sign_of[2]));
  EXPECT_TRUE(std::isnan(sign_of[3]));
}
TEST(Evaluate, FloatsTruncateAndSaturateToIntegers) {
  Literal x = list<float>({1.9f, -1.9f, 300, -300, kNaN, kInf});
  EXPECT_THAT(values<std::int8_t>(run(
                  {x}, [](Builder& b, const Values& v) { return convert(b, v[0], DType::i8); })),
              ElementsAre(1, -1, 127, -128, 0, 127));
  EXPECT_THAT(values<std::uint8_t>(run(
                  {x}, [](Builder& b, const Values& v) { return convert(b, v[0], DType::ui8); })),
              ElementsAre(1, 0, 255, 0, 0, 255));
}
TEST(Evaluate, NarrowFloatsRoundOncePerOperation) {
  // 1 + 2^-8 is half way between two bf16 numbers: ties to even.
  Literal one = Literal::full(Type(DType::bf16, {1}), 1),
          tiny = Literal::full(Type(DType::bf16, {1}), 0x1p-8);
  EXPECT_EQ(
      run({one, tiny}, [](Builder& b, const Values& v) { return add(b, v[0], v[1]); }).number(0),
      1);
  EXPECT_EQ(
      run({one, tiny}, [](Builder& b, const Values& v) { return add(b, add(b, v[0], v[1]), v[1]); })
          .number(0),
      1);
}
TEST(Evaluate, ClampOrdersItsBounds) {
  Literal x = list<float>({-1, 0.5f, 9}), low = list<float>({0, 0, 0}),
          high = list<float>({1, 1, 1});
  EXPECT_THAT(
      values<float>(run({low, x, high},
                        [](Builder& b, const Values& v) { return clamp(b, v[0], v[1], v[2]); })),
      ElementsAre(0, 0.5f, 1));
}
TEST(Evaluate, TotalOrder) {
  Literal x = list<float>({-kNaN, -kInf, -0.0f, 0.0f, kInf}),
          y = list<float>({-kInf, -1, 0.0f, -0.0f, kNaN});
  Block block;
  Builder b(block);
  Attrs attrs{{"comparison_direction", std::string("LT")},
              {"compare_type", std::string("TOTALORDER")}};
  block.results = b.create("stablehlo.compare",
                           {block.add_argument(x.type()), block.add_argument(y.type())}, attrs)
                      .results();
  EXPECT_THAT(values<bool>(evaluate(block, std::array{x, y})[0]),
              ElementsAre(true, true, true, false, true));
}
TEST(Evaluate, BitsOfNarrowerTypesComeLowFirst) {
  Literal x = list<std::uint32_t>({0x04030201});
  EXPECT_THAT(
      values<std::uint8_t>(run(
          {x}, [](Builder& b, const Values& v) { return bitcast_convert(b, v[0], DType::ui8); })),
      ElementsAre(1, 2, 3, 4));
}
TEST(Evaluate, PadsBetweenAndCutsOff) {
  Literal x = list<std::int32_t>({1, 2, 3}), zero = Literal::scalar<std::int32_t>(0);
  auto padded = [&](std::int64_t low, std::int64_t high, std::int64_t interior) {
    return values<std::int32_t>(run({x, zero}, [&](Builder& b, const Values& v) {
      return pad(b, v[0], v[1], {low}, {high}, {interior});
    }));
  };
  EXPECT_THAT(padded(1, 2, 1), ElementsAre(0, 1, 0, 2, 0, 3, 0, 0));
  EXPECT_THAT(padded(-1, -1, 1), ElementsAre(0, 2, 0));
}
TEST(Evaluate, ArgumentsMustFit) {
  Block block;
  block.results = {block.add_argument(Type(DType::f32, {2}))};
  EXPECT_THROW(evaluate(block, {}), Error);
  EXPECT_THROW(evaluate(block, std::array{list<float>({1, 2, 3})}), Error);
}

}  // namespace
}  // namespace strata::op
