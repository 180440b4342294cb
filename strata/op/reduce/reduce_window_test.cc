#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/reduce/windows.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;

Attrs window_attrs(const WindowDims& d, const std::string& combiner) {
  Attrs attrs{{"combiner", combiner}};
  set_window_attrs(attrs, d);
  return attrs;
}
const WindowDims kPool{.size = {1, 2},
                       .stride = {1, 2},
                       .base_dilation = {1, 1},
                       .window_dilation = {1, 1},
                       .low = {0, 1},
                       .high = {0, 0}};
const WindowDims kRunning{.size = {4, 1},
                          .stride = {1, 1},
                          .base_dilation = {1, 1},
                          .window_dilation = {1, 1},
                          .low = {3, 0},
                          .high = {0, 0}};
const WindowDims kDilated{.size = {2, 2},
                          .stride = {1, 2},
                          .base_dilation = {2, 1},
                          .window_dilation = {2, 2},
                          .low = {1, -1},
                          .high = {2, 3}};

testing::Program reduced(const WindowDims& d, const std::string& combiner) {
  return [=](Builder& b, const Values& v) {
    return Values{b.create("stablehlo.reduce_window", v, window_attrs(d, combiner)).result()};
  };
}

std::vector<std::unique_ptr<Block>> one(std::unique_ptr<Block> region) {
  std::vector<std::unique_ptr<Block>> out;
  out.push_back(std::move(region));
  return out;
}
/// (a, i, b, j): the sum of the values, the greater of the numbers.
std::unique_ptr<Block> pair_region() {
  Type f = Type::scalar(DType::f32), i = Type::scalar(DType::i32);
  return testing::build({f, i, f, i}, [](Builder& b, const Values& v) {
    return Values{add(b, v[0], v[2]), max(b, v[1], v[3])};
  });
}
std::unique_ptr<Block> sum_region(DType dtype) {
  Type t = Type::scalar(dtype);
  return testing::build({t, t},
                        [](Builder& b, const Values& v) { return Values{add(b, v[0], v[1])}; });
}

const bool samples = add_samples("stablehlo.reduce_window", [](std::vector<Sample>& out) {
  auto sample = [&](const char* what, DType t, Shape shape, const WindowDims& d,
                    const char* combiner, double init) {
    out.push_back({.what = what,
                   .operands = {random_literal(Type(t, std::move(shape)), 1 + out.size(), 0, 9),
                                Literal::full(Type::scalar(t), init)},
                   .attrs = window_attrs(d, combiner)});
  };
  for (DType t :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8, DType::ui64}) {
    sample("sums", t, {4, 6}, kDilated, "add", 0);
    sample("maxima", t, {3, 5}, kPool, "max", 0);
    sample("minima", t, {3, 5}, kPool, "min", 99);
  }
  sample("running product", DType::f32, {4, 3}, kRunning, "mul", 1);
  sample("running sum from 2", DType::f64, {4, 3}, kRunning, "add", 2);
  sample("running maximum", DType::f64, {4, 3}, kRunning, "max", -1);
  sample("any", DType::i1, {4, 3}, kRunning, "or", 0);
  sample("empty", DType::f32, {0, 6}, kDilated, "add", 0);
  sample("rank 0", DType::f32, Shape{}, WindowDims::trivial(0), "add", 3);
  sample("no window fits", DType::f32, {1, 1}, {{2, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
         "max", 3);
  out.push_back({.what = "two inputs and a region",
                 .operands = {random_literal(Type(DType::f32, {3, 5}), 60),
                              random_literal(Type(DType::i32, {3, 5}), 61, 0, 9),
                              Literal::scalar(0.5f), Literal::scalar(std::int32_t{1})},
                 .attrs = window_attrs(kPool, "region"),
                 .regions = [] { return one(pair_region()); },
                 .smooth = false});
});

TEST(ReduceWindow, PadsWithTheInitialValue) {
  Literal x = Literal::of<std::int32_t>({1, 3}, {1, 2, 3});
  Literal y = run({x, Literal::scalar(std::int32_t{10})},
                  reduced(kPool, "add"))[0];  // 10 + (10 + 1), 10 + (2 + 3)
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({1, 2}, {21, 15}))) << testing::to_text(y);
}

TEST(ReduceWindow, NegativePaddingCuts) {
  WindowDims d{.size = {2},
               .stride = {1},
               .base_dilation = {1},
               .window_dilation = {1},
               .low = {-1},
               .high = {-1}};
  Literal y =
      run({Literal::of<float>({5}, {1, 2, 3, 4, 5}), Literal::scalar(0.f)}, reduced(d, "add"))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({2}, {5, 7}))) << testing::to_text(y);
}

TEST(ReduceWindow, PlainSumsOfNarrowFloatsRoundOnce) {
  WindowDims d{.size = {3},
               .stride = {1},
               .base_dilation = {1},
               .window_dilation = {1},
               .low = {0},
               .high = {0}};
  Literal x(Type(DType::bf16, {3}));
  x.set_number(0, 256), x.set_number(1, 1), x.set_number(2, 1);
  EXPECT_EQ(run(
                {
                    x,
                    Literal::full(Type::scalar(DType::bf16), 0),
                },
                reduced(d, "add"))[0]
                .number(0),
            258);
  Literal each =
      run({x, Literal::full(Type::scalar(DType::bf16), 0)}, [&](Builder& b, const Values& v) {
        return Values{b.create("stablehlo.reduce_window", v, window_attrs(d, "region"),
                               one(sum_region(DType::bf16)))
                          .result()};
      })[0];
  EXPECT_EQ(each.number(0), 256);
}

TEST(ReduceWindow, RegionsMayComputeInAWiderType) {
  WindowDims d{.size = {2},
               .stride = {1},
               .base_dilation = {1},
               .window_dilation = {1},
               .low = {0},
               .high = {0}};
  Literal y = run({Literal::of<std::int8_t>({2}, {100, 100}), Literal::scalar(std::int8_t{0})},
                  [&](Builder& b, const Values& v) {
                    return Values{b.create("stablehlo.reduce_window", v, window_attrs(d, "region"),
                                           one(sum_region(DType::i32)))
                                      .result()};
                  })[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({1}, {200}))) << testing::to_text(y);
}

TEST(ReduceWindow, TheFirstOfTiedMaximaHasTheTangent) {
  WindowDims d{.size = {3},
               .stride = {1},
               .base_dilation = {1},
               .window_dilation = {1},
               .low = {0},
               .high = {0}};
  Literals y =
      testing::run_jvp({Literal::of<float>({3}, {2, 5, 5}), Literal::scalar(-1.f)},
                       {Literal::of<float>({3}, {1, 10, 100}), std::nullopt}, reduced(d, "max"));
  EXPECT_EQ(y[1].number(0), 10);
}

void expect_error(const std::vector<Type>& types, Attrs attrs, const std::string& message,
                  std::vector<std::unique_ptr<Block>> regions = {}) {
  try {
    Block block;
    Builder b(block);
    Values v;
    for (const Type& t : types) v.push_back(block.add_argument(t));
    b.create("stablehlo.reduce_window", v, std::move(attrs), std::move(regions));
    ADD_FAILURE() << "no error; expected " << message;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::says(message));
  }
}

TEST(ReduceWindow, RefusesBrokenConstraints) {
  Type x(DType::f32, {3, 5}), init = Type::scalar(DType::f32);
  Attrs good = window_attrs(kPool, "add");
  auto with = [&](const char* name, Ints list) { return Attrs(good).set(name, std::move(list)); };
  expect_error({x}, good, "(C1) expected inputs and as many initial values, got 1");
  expect_error({x, Type(DType::i32, {3, 4}), init, Type::scalar(DType::i32)},
               window_attrs(kPool, "region"), "(C2) inputs must have one shape",
               one(pair_region()));
  expect_error({x, Type::scalar(DType::f64)}, good, "(C3) the initial value of tensor<3x5xf32>");
  expect_error({x, init}, with("window_dimensions", {2}),
               "(C4) window_dimensions must have 2 entries, got 1");
  expect_error({x, init}, with("window_dimensions", {2, 0}),
               "(C5) window_dimensions must be positive, got [2, 0]");
  expect_error({x, init}, with("window_strides", {2}), "(C6) window_strides");
  expect_error({x, init}, with("window_strides", {-1, 1}), "(C7) window_strides");
  expect_error({x, init}, with("base_dilations", {2}), "(C8) base_dilations");
  expect_error({x, init}, with("base_dilations", {0, 1}), "(C9) base_dilations");
  expect_error({x, init}, with("window_dilations", {2}), "(C10) window_dilations");
  expect_error({x, init}, with("window_dilations", {0, 1}), "(C11) window_dilations");
  expect_error({x, init}, with("padding", {0, 0}),
               "(C12) padding must have shape [2, 2], got 2 numbers");
  expect_error({x, init}, window_attrs(kPool, "region"),
               "elements of f32 cannot be combined in i32", one(sum_region(DType::i32)));  // (C13)
  expect_error({x, init}, window_attrs(kPool, "and"), "combiner and does not exist for f32");
}

}  // namespace
}  // namespace strata::op
