#include "strata/op/sort/sort.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;
using testing::run;
using Regions = std::vector<std::unique_ptr<Block>>;

Regions one(std::unique_ptr<Block> region) {
  Regions out;
  out.push_back(std::move(region));
  return out;
}
Attrs sort_attrs(std::int64_t dimension) { return {{"dimension", dimension}, {"is_stable", true}}; }

/// Numbers that are far enough apart for finite differences.
Literal apart(const Shape& shape, std::uint64_t seed) {
  Literal out = random_literal(Type(DType::f64, shape), seed);
  for (std::int64_t i = 0; i < out.count(); ++i)
    out.set_number(i, std::floor(out.number(i) * 100) + static_cast<double>(i % 7) / 10);
  return out;
}

const bool sort_samples = add_samples("stablehlo.sort", [](std::vector<Sample>& out) {
  auto by = [](std::vector<DType> dtypes, std::string direction) {
    return [dtypes, direction] { return one(comparator(dtypes, direction)); };
  };
  out.push_back({.what = "vector",
                 .operands = {apart({5}, 1)},
                 .attrs = sort_attrs(0),
                 .regions = by({DType::f64}, "LT")});
  out.push_back({.what = "key and payload along the first dimension",
                 .operands = {apart({4, 3}, 2), random_literal(Type(DType::f64, {4, 3}), 3)},
                 .attrs = sort_attrs(0),
                 .regions = by({DType::f64, DType::f64}, "GT")});
  out.push_back({.what = "dimension from the end",
                 .operands = {random_literal(Type(DType::i32, {2, 3, 4}), 4, 0, 3)},
                 .attrs = sort_attrs(-2),
                 .regions = by({DType::i32}, "LT")});
  out.push_back({.what = "edges in total order",
                 .operands = {edge_literal(DType::f32)},
                 .attrs = sort_attrs(0),
                 .regions = by({DType::f32}, "LT"),
                 .smooth = false});
  out.push_back({.what = "empty",
                 .operands = {Literal(Type(DType::f64, {0, 3}))},
                 .attrs = sort_attrs(1),
                 .regions = by({DType::f64}, "LT")});
  out.push_back({.what = "no order at all",
                 .operands = {random_literal(Type(DType::ui8, {9}), 5, 0, 4)},
                 .attrs = sort_attrs(0),
                 .regions = by({DType::ui8}, "NE")});
});

Values sorted(Builder& b, const Values& v, std::int64_t dimension, const std::string& direction) {
  std::vector<DType> dtypes;
  for (Value* x : v) dtypes.push_back(x->dtype());
  return sort(b, v, dimension, comparator(dtypes, direction));
}

TEST(Sort, IsStable) {
  Literals y = run({Literal::of<std::int32_t>({6}, {2, 1, 2, 1, 3, 1}),
                    Literal::of<std::int32_t>({6}, {0, 1, 2, 3, 4, 5})},
                   [](Builder& b, const Values& v) { return sorted(b, v, 0, "LT"); });
  EXPECT_TRUE(testing::same(y[0], Literal::of<std::int32_t>({6}, {1, 1, 1, 2, 2, 3})));
  EXPECT_TRUE(testing::same(y[1], Literal::of<std::int32_t>({6}, {1, 3, 5, 0, 2, 4})));
}

TEST(Sort, TotalOrderPutsNegativeZeroAndNaNWhereTheyBelong) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  Literal y = run({Literal::of<float>({5}, {nan, 0.0f, -0.0f, -1, -nan})},
                  [](Builder& b, const Values& v) { return sorted(b, v, 0, "LT"); })[0];
  EXPECT_TRUE(std::isnan(y.number(0)) && std::isnan(y.number(4)));
  EXPECT_EQ(y.number(1), -1);
  EXPECT_TRUE(std::signbit(y.number(2)) && !std::signbit(y.number(3)));
}

TEST(Sort, RefusesBrokenConstraints) {
  auto message = [](const std::vector<Type>& types, std::int64_t dimension,
                    std::unique_ptr<Block> region) -> std::string {
    try {
      build(types, [&](Builder& b, const Values& v) {
        return b.create("stablehlo.sort", v, sort_attrs(dimension), one(std::move(region)))
            .results();
      });
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  using ::testing::HasSubstr;
  Type x(DType::f32, {3, 4});
  EXPECT_EQ(message({x}, 1, comparator({DType::f32}, "LT")), "");
  EXPECT_THAT(message({}, 0, comparator({DType::f32}, "LT")), HasSubstr("(C1)"));
  EXPECT_THAT(message({x, Type(DType::f32, {3, 5})}, 1, comparator({DType::f32, DType::f32}, "LT")),
              HasSubstr("(C3)"));
  EXPECT_THAT(message({x}, 2, comparator({DType::f32}, "LT")),
              testing::says("(C4) dimension 2 is out of range for"));
  EXPECT_THAT(message({x}, -3, comparator({DType::f32}, "LT")), HasSubstr("(C4)"));
  EXPECT_THAT(message({x}, 0, comparator({DType::f32, DType::f32}, "LT")),
              testing::says("(C5) the comparator takes 4 arguments, expected 2"));
  EXPECT_THAT(message({x}, 0, comparator({DType::f64}, "LT")), testing::says("(C5) argument 0"));
  auto value = build({Type::scalar(DType::f32), Type::scalar(DType::f32)},
                     [](Builder&, const Values& v) { return Values{v[0]}; });
  EXPECT_THAT(message({x}, 0, std::move(value)),
              testing::says("(C5) the comparator must return one"));
}

/// The cotangents go back where the elements came from.
TEST(Sort, ReversesItsPermutation) {
  auto f = build({Type(DType::f64, {4})},
                 [](Builder& b, const Values& v) { return sorted(b, v, 0, "GT"); });
  Literal y =
      run({Literal::of<double>({4}, {3, 9, 1, 5}), Literal::of<double>({4}, {10, 20, 30, 40})},
          [&](Builder& b, const Values& v) {
            LinearBlock l = linearize(b, *f, {v.begin(), 1}, {true});
            return transpose(b, *l.linear, {&v[1], 1});
          })[0];
  EXPECT_TRUE(testing::same(y, Literal::of<double>({4}, {30, 10, 40, 20}))) << testing::to_text(y);
}

// ---- top_k

const bool top_k_samples = add_samples("chlo.top_k", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, Literal x, std::int64_t k, bool smooth = true) {
    out.push_back(
        {.what = what, .operands = {std::move(x)}, .attrs = {{"k", k}}, .smooth = smooth});
  };
  add("three of each row", apart({2, 7}, 6), 3);
  add("all", apart({5}, 7), 5);
  add("none", apart({2, 3}, 8), 0);
  add("edges", edge_literal(DType::f32), 4, false);
  add("integers with ties", random_literal(Type(DType::i16, {3, 6}), 9, 0, 3), 4);
});

TEST(TopK, OfEqualElementsTheFirst) {
  Literals y = run({Literal::of<float>({5}, {1, 3, 2, 3, 1})}, [](Builder& b, const Values& v) {
    return b.create("chlo.top_k", v, {{"k", std::int64_t{4}}}).results();
  });
  EXPECT_TRUE(testing::same(y[0], Literal::of<float>({4}, {3, 3, 2, 1})));
  EXPECT_TRUE(testing::same(y[1], Literal::of<std::int32_t>({4}, {1, 3, 2, 0})));
}

TEST(TopK, RefusesBrokenConstraints) {
  auto message = [](const Type& type, std::int64_t k) -> std::string {
    try {
      build({type}, [&](Builder& b, const Values& v) {
        return b.create("chlo.top_k", v, {{"k", k}}).results();
      });
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(Type(DType::f32, {3}), 3), "");
  EXPECT_THAT(message(Type::scalar(DType::f32), 0), ::testing::HasSubstr("(C1)"));
  EXPECT_THAT(message(Type(DType::f32, {3}), 4), ::testing::HasSubstr("(C2)"));
  EXPECT_THAT(message(Type(DType::f32, {3}), -1), ::testing::HasSubstr("(C2)"));
  EXPECT_THAT(message(Type(DType::c64, {3}), 1), ::testing::HasSubstr("no order"));
}

}  // namespace
}  // namespace strata::op
