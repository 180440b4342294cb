// Arrays: creation, conversion, weak scalars, printing.
#include <sstream>

#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::type_of;

TEST(Array, FromBracesVectorsAndScalars) {
  expect_array(array({1, 2, 3}), "i32[3]", {1, 2, 3});
  expect_array(array({{1, 2.5}, {3, 4}}), "f32[2,2]", {1, 2.5, 3, 4});
  expect_array(array({true, false}), "i1[2]", {1, 0});
  expect_array(array({1, 2}, bfloat16), "bf16[2]", {1, 2});
  expect_array(array(7), "i32[]", {7});
  expect_array(array(std::vector<double>{1, 2, 3, 4}, Sizes{2, 2}), "f32[2,2]", {1, 2, 3, 4});
  expect_array(array(std::vector<std::uint8_t>{1, 2}), "ui8[2]", {1, 2});
  EXPECT_EQ(type_of(array({})), "f32[0]");
}

TEST(Array, CreationFunctions) {
  expect_array(zeros({2}), "f32[2]", {0, 0});
  expect_array(ones({1, 2}, int32), "i32[1,2]", {1, 1});
  expect_array(full({2}, 2.5f), "f32[2]", {2.5, 2.5});
  expect_array(full({2, 2}, array({1, 2})), "i32[2,2]", {1, 2, 1, 2});
  expect_array(arange(4), "i32[4]", {0, 1, 2, 3});
  expect_array(arange(5, 0, -2), "i32[3]", {5, 3, 1});
  expect_array(arange(0.0, 1.0, 0.25), "f32[4]", {0, 0.25, 0.5, 0.75});
  expect_array(linspace(0, 1, 5), "f32[5]", {0, 0.25, 0.5, 0.75, 1});
  expect_array(eye(2, 3, 1), "f32[2,3]", {0, 1, 0, 0, 0, 1});
  expect_array(tri(3, 3, 0, int32), "i32[3,3]", {1, 0, 0, 1, 1, 0, 1, 1, 1});
  expect_array(zeros_like(array({1, 2})), "i32[2]", {0, 0});
}

TEST(Array, ScalarsTakeOnTheOtherOperandsType) {
  EXPECT_EQ(type_of(array({1.f}, bfloat16) * 2.5f), "bf16[1]");
  EXPECT_EQ(type_of(array({1}) * 2.5f), "f32[1]");
  EXPECT_EQ(type_of(array({1}, int8) + 1), "i8[1]");
  EXPECT_EQ(type_of(array({1}, uint8) + array({1}, int8)), "i16[1]");
  EXPECT_EQ(type_of(array({1}) / array({2})), "f32[1]");
  Array weak = 3.0f;
  EXPECT_TRUE((weak * 2).weak());
  EXPECT_EQ(type_of(array({1.f}, float16) * (weak * 2)), "f16[1]");
}

TEST(Array, SixtyFourBitsAreASwitch) {
  EXPECT_EQ(type_of(Array(1.0)), "f32[]");
  EnableX64 wide;
  EXPECT_EQ(type_of(Array(1.0)), "f64[]");
  EXPECT_EQ(type_of(array({1, 2})), "i64[2]");
  EXPECT_EQ(type_of(array({1.0f}, float32) * 0.1), "f32[1]");
  {
    EnableX64 narrow(false);
    EXPECT_EQ(type_of(arange(3)), "i32[3]");
  }
  const double tenth = (array(std::vector<double>{1.0}) * 0.1).item<double>();
  EXPECT_EQ(tenth, 0.1);
}

TEST(Array, ElementsLeaveAsAnyType) {
  Array x = array({1.5f, -2.0f});
  EXPECT_THAT(x.to_vector<double>(), ::testing::ElementsAre(1.5, -2.0));
  EXPECT_THAT(x.to_vector<int>(), ::testing::ElementsAre(1, -2));
  EXPECT_EQ(array({{42}}).item<int>(), 42);
  EXPECT_TRUE(static_cast<bool>(Array(1) < 2));
}

TEST(Array, ShapesPrintAsPythonsTuples) {
  auto text = [](const Shape& shape) {
    std::ostringstream out;
    out << shape;
    return out.str();
  };
  EXPECT_EQ(text(zeros({2, 3}).shape()), "(2, 3)");
  EXPECT_EQ(text(zeros({4}).shape()), "(4,)");
  EXPECT_EQ(text(Array(1).shape()), "()");
}

TEST(Array, PrintsAsNumPyDoes) {
  auto text = [](const Array& x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  EXPECT_EQ(text(array({1, 20, 3})), "[ 1 20  3]");
  EXPECT_EQ(text(array({{1, 2}, {3, 4}})), "[[1 2]\n [3 4]]");
  EXPECT_EQ(text(array({1.5f, 2.f, -0.25f})), "[ 1.5   2.   -0.25]");
  EXPECT_EQ(text(array({1e-5f, 1.f})), "[1.e-05 1.e+00]");
  EXPECT_EQ(text(array({1.f, 1234.5f})), "[1.0000e+00 1.2345e+03]");
  EXPECT_EQ(text(array({true, false})), "[ True False]");
  EXPECT_EQ(text(array({0.1f, nan, -inf})), "[ 0.1  nan -inf]");
  EXPECT_EQ(text(array(2.5f)), "2.5");
  EXPECT_EQ(text(array(-5)), "-5");
  EXPECT_EQ(text(array(-5.0f)), "-5.0");
  EXPECT_EQ(text(array(0.0f)), "0.0");
  EXPECT_EQ(text(array(1e-5f)), "1e-05");
  EXPECT_EQ(text(array(123456.7f)), "123456.7");
  EXPECT_EQ(text(array({1.f, 0.5f}, bfloat16)), "[1 0.5]");
  EXPECT_EQ(text(zeros({2, 2, 1}, int32)), "[[[0]\n  [0]]\n\n [[0]\n  [0]]]");
  EXPECT_EQ(text(arange(2000)), "[   0    1    2 ... 1997 1998 1999]");
}

TEST(Array, ReadyArraysAreThemselves) {
  const Array x = ones({3}) * 2;
  EXPECT_EQ(x.block_until_ready().state(), x.state());
  const std::pair<Array, std::vector<Array>> tree{x, {x, 1.5f}};
  EXPECT_EQ(&block_until_ready(tree), &tree);
  EXPECT_THAT(
      testing::message_of([&] { (void)jit([](Array y) { return y.block_until_ready(); })(x); }),
      ::testing::HasSubstr("is traced"));
}

TEST(Array, HandlesShareMemoryUntilGivenAway) {
  Array x = zeros({4});
  Array y = x;
  EXPECT_EQ(x.buffer().data(), y.buffer().data());
  runtime::Buffer b = std::move(y).buffer();
  EXPECT_FALSE(y.has_value());
  EXPECT_EQ(b.data(), x.buffer().data());
}

TEST(Array, VectorsTakeAShapeInBraces) {
  const std::vector<float> v{1, 2, 3, 4, 5, 6};
  expect_array(array(v, {2, 3}), "f32[2,3]", {1, 2, 3, 4, 5, 6});
  expect_array(array(v, {-1, 2}), "f32[3,2]", {1, 2, 3, 4, 5, 6});
  expect_array(array(v, 6), "f32[6]", {1, 2, 3, 4, 5, 6});
  expect_array(array(v, {}, bfloat16), "bf16[6]", {1, 2, 3, 4, 5, 6});
  expect_array(array(std::vector<float>{7}, Sizes()), "f32[]", {7});
  expect_array(array(std::vector<bool>{true, false}, {2, 1}), "i1[2,1]", {1, 0});
  expect_array(array(std::vector<std::int64_t>{-1, 3}), "i32[2]", {-1, 3});
  expect_array(array(std::vector<double>{0.1, 2.5}, {}, int8), "i8[2]", {0, 2});
  expect_array(array(std::vector<float>()), "f32[0]", {});
  expect_array(zeros_like(array(v), {}, {2, 1}), "f32[2,1]", {0, 0});
  EXPECT_THAT(testing::message_of([&] { array(v, {4, 2}); }),
              ::testing::HasSubstr("6 values do not fill shape"));
}

TEST(Array, EveryTypeOfElementLeavesAsEveryOther) {
  const Array x = array({0.0f, 1.0f, 2.0f});
  for (DType d : {DType::i8, DType::i16, DType::i32, DType::ui8, DType::ui32, DType::bf16,
                  DType::f16, DType::f32, DType::c64, DType::f8E5M2, DType::i4}) {
    SCOPED_TRACE(name(d));
    const Array y = x.astype(d);
    EXPECT_THAT(y.to_vector<float>(), ::testing::ElementsAre(0, 1, 2));
    EXPECT_THAT(y.to_vector<std::int8_t>(), ::testing::ElementsAre(0, 1, 2));
    EXPECT_THAT(y.to_vector<bool>(), ::testing::ElementsAre(false, true, true));
    EXPECT_EQ(y[2].item<double>(), 2);
    EXPECT_EQ(y.to_vector<std::complex<double>>()[2], std::complex<double>(2));
    EXPECT_EQ(static_cast<float>(y.to_vector<BFloat16>()[1]), 1);
  }
}

TEST(Array, RangesOfIntegersAndFloats) {
  testing::shows_names("numpy.arange");
  expect_array(arange(0, 1, 0.25), "f32[4]", {0, 0.25, 0.5, 0.75});
  expect_array(arange(3.0), "f32[3]", {0, 1, 2});
  expect_array(arange(2.5), "f32[3]", {0, 1, 2});
  expect_array(arange(2.5f, bfloat16), "bf16[3]", {0, 1, 2});
  expect_array(arange(1, 2.5), "f32[2]", {1, 2});
  expect_array(arange(3, 0, -0.5f), "f32[6]", {3, 2.5, 2, 1.5, 1, 0.5});
  expect_array(arange(0, 3, 1, float16), "f16[3]", {0, 1, 2});
  expect_array(arange(1, 7, 2u), "i32[3]", {1, 3, 5});
  expect_array(arange(4, int8), "i8[4]", {0, 1, 2, 3});
  expect_array(arange(-1), "i32[0]", {});
  EXPECT_THAT(testing::message_of([] { arange(0, 1, 0.0); }),
              ::testing::HasSubstr("the step is 0"));
}

TEST(Array, TypesPrintAsMessagesWriteThem) {
  const Array x = zeros({2, 3}, bfloat16);
  std::ostringstream out;
  out << x.dtype() << " " << x.type() << " " << x.shape();
  EXPECT_EQ(out.str(), "bf16 bf16[2,3] (2, 3)");
  EXPECT_EQ(fmt::format("{} {}", x.dtype(), x.type()), "bf16 bf16[2,3]");
}

}  // namespace
}  // namespace strata
