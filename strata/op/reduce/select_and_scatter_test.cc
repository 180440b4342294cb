#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/reduce/windows.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;

struct Windows {
  Ints size, stride, padding;
};
Attrs attrs_of(const Windows& w, const std::string& select = "GE",
               const std::string& combiner = "add") {
  return {{"window_dimensions", w.size},
          {"window_strides", w.stride},
          {"padding", w.padding},
          {"select", select},
          {"combiner", combiner}};
}
const Windows kOverlapping{{2, 3}, {1, 2}, {0, 1, 1, 1}};  // 3x5 -> 3x3
const Windows kRow{{3}, {2}, {0, 1}};                      // 4 -> 2

std::vector<std::unique_ptr<Block>> regions(DType dtype, DType wide) {
  std::vector<std::unique_ptr<Block>> out;
  Type t = Type::scalar(dtype), u = Type::scalar(wide);
  out.push_back(testing::build(
      {t, t}, [](Builder& b, const Values& v) { return Values{compare(b, v[1], v[0], "LT")}; }));
  out.push_back(testing::build(
      {u, u}, [](Builder& b, const Values& v) { return Values{add(b, v[0], v[1])}; }));
  return out;
}

const bool samples = add_samples("stablehlo.select_and_scatter", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::ui8})
    out.push_back(
        {.what = "overlapping",
         .operands = {random_literal(Type(t, {3, 5}), 1, 0, 9),
                      random_literal(Type(t, {3, 3}), 2, 0, 9), Literal::full(Type::scalar(t), 1)},
         .attrs = attrs_of(kOverlapping)});
  out.push_back(
      {.what = "least, products",
       .operands = {random_literal(Type(DType::f32, {3, 5}), 1, 0, 9),
                    random_literal(Type(DType::f32, {3, 3}), 2, 1, 2), Literal::scalar(1.f)},
       .attrs = attrs_of(kOverlapping, "LE", "max")});
  out.push_back({.what = "regions",
                 .operands = {random_literal(Type(DType::f16, {4}), 3, 0, 9),
                              random_literal(Type(DType::f16, {2}), 4, 0, 9),
                              Literal::full(Type::scalar(DType::f16), 0)},
                 .attrs = attrs_of(kRow, "region", "region"),
                 .regions = [] { return regions(DType::f16, DType::f16); },
                 .smooth = false});
  out.push_back({.what = "a window of padding alone",
                 .operands = {random_literal(Type(DType::f32, {2}), 5),
                              random_literal(Type(DType::f32, {3}), 6), Literal::scalar(0.f)},
                 .attrs = attrs_of({{2}, {2}, {2, 2}})});
  out.push_back({.what = "empty",
                 .operands = {Literal(Type(DType::f32, {0, 3})), Literal(Type(DType::f32, {0, 1})),
                              Literal::scalar(0.f)},
                 .attrs = attrs_of({{1, 3}, {1, 1}, {0, 0, 0, 0}})});
});

testing::Program selected(const Attrs& attrs) {
  return [=](Builder& b, const Values& v) {
    return Values{b.create("stablehlo.select_and_scatter", v, attrs).result()};
  };
}

TEST(SelectAndScatter, ExampleOfTheSpecification) {
  Literal y =
      run({Literal::of<std::int64_t>({4, 2}, {1, 5, 2, 5, 3, 6, 4, 4}),
           Literal::of<std::int64_t>({2, 2}, {5, 6, 7, 8}), Literal::scalar(std::int64_t{0})},
          selected(attrs_of({{3, 1}, {2, 1}, {0, 1, 0, 0}})))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int64_t>({4, 2}, {0, 0, 0, 0, 5, 14, 7, 0})))
      << testing::to_text(y);
}

TEST(SelectAndScatter,
     PaddingIsNoCandidate) {  // elements below 0, which a padding of zeros would beat
  Literal y = run(
      {Literal::of<float>({2}, {-5, -3}), Literal::of<float>({2}, {1, 2}), Literal::scalar(0.f)},
      selected(attrs_of({{2}, {2}, {1, 1}})))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({2}, {1, 2}))) << testing::to_text(y);
}

TEST(SelectAndScatter, RegionsMayCombineInAWiderType) {
  Literal y = run(
      {Literal::of<std::int8_t>({4}, {1, 2, 9, 3}), Literal::of<std::int8_t>({2}, {100, 100}),
       Literal::scalar(std::int8_t{0})},
      [](Builder& b, const Values& v) {
        return Values{b.create("stablehlo.select_and_scatter", v,
                               attrs_of(kRow, "region", "region"), regions(DType::i8, DType::i32))
                          .result()};
      })[0];
  EXPECT_TRUE(testing::same(y, Literal::of<std::int32_t>({4}, {0, 0, 200, 0})))
      << testing::to_text(y);
}

void expect_error(const std::vector<Type>& types, Attrs attrs, const std::string& message,
                  std::vector<std::unique_ptr<Block>> r = {}) {
  try {
    Block block;
    Builder b(block);
    Values v;
    for (const Type& t : types) v.push_back(block.add_argument(t));
    b.create("stablehlo.select_and_scatter", v, std::move(attrs), std::move(r));
    ADD_FAILURE() << "no error; expected " << message;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::says(message));
  }
}

TEST(SelectAndScatter, RefusesBrokenConstraints) {
  Type x(DType::f32, {4}), s(DType::f32, {2}), init = Type::scalar(DType::f32);
  Attrs good = attrs_of(kRow);
  auto with = [&](const char* name, Ints list) { return Attrs(good).set(name, std::move(list)); };
  expect_error({x, Type(DType::f64, {2}), init}, good,
               "(C1) operand and source must have one dtype");
  expect_error(
      {x, Type(DType::f32, {3}), init}, good,
      "(C2) the source must have one element for each of the 2 windows, got tensor<3xf32>");
  expect_error({x, s, Type::scalar(DType::f64)}, good, "(C3) the initial value of tensor<4xf32>");
  expect_error({x, s, init}, with("window_dimensions", {3, 1}), "(C4) window_dimensions");
  expect_error({x, s, init}, with("window_dimensions", {0}), "(C5) window_dimensions");
  expect_error({x, s, init}, with("window_strides", {}), "(C6) window_strides");
  expect_error({x, s, init}, with("window_strides", {0}), "(C7) window_strides");
  expect_error({x, s, init}, with("padding", {0}), "(C8) padding");
  expect_error({x, s, init}, attrs_of(kRow, "region", "region"),
               "(C9) the region that selects must map two tensor<f32>",
               regions(DType::i32, DType::f32));
  expect_error({x, s, init}, attrs_of(kRow, "OVER"), "(C9) unknown selection 'OVER'");
  expect_error({x, s, init}, attrs_of(kRow, "region", "region"),
               "elements of f32 cannot be combined in i32",
               regions(DType::f32, DType::i32));  // (C10)
  expect_error({x, s, init}, attrs_of(kRow, "GE", "assign"), "(C10) unknown combiner 'assign'");
}

}  // namespace
}  // namespace strata::op
