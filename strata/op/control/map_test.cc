// map and chlo.scan: a computation for each element, a loop along a dimension.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;
using ::testing::HasSubstr;
using Regions = std::vector<std::unique_ptr<Block>>;

Regions one(std::unique_ptr<Block> region) {
  Regions out;
  out.push_back(std::move(region));
  return out;
}
const Type kScalar = Type::scalar(DType::f64);

std::unique_ptr<Block> sine_of_product() {
  return build({kScalar, kScalar},
               [](Builder& b, const Values& v) { return Values{sin(b, mul(b, v[0], v[1]))}; });
}
/// x halved until it is below 1: a different number of steps for each element.
std::unique_ptr<Block> halved() {
  return build({kScalar}, [](Builder& b, const Values& v) {
    auto cond = build({kScalar}, [](Builder& c, const Values& x) {
      return Values{compare(c, x[0], scalar(c, DType::f64, 1), "GE")};
    });
    auto body = build({kScalar}, [](Builder& c, const Values& x) {
      return Values{mul(c, x[0], scalar(c, DType::f64, 0.5))};
    });
    return while_(b, std::move(cond), std::move(body), {v[0]});
  });
}

const bool map_samples = add_samples("stablehlo.map", [](std::vector<Sample>& out) {
  out.push_back({.what = "two matrices",
                 .operands = {random_literal(Type(DType::f64, {2, 3}), 1),
                              random_literal(Type(DType::f64, {2, 3}), 2)},
                 .attrs = {{"dimensions", Ints{0, 1}}},
                 .regions = [] { return one(sine_of_product()); }});
  out.push_back({.what = "a loop",
                 .operands = {Literal::of<double>({4}, {0.3, 1.3, 5, 9})},
                 .attrs = {{"dimensions", Ints{0}}},
                 .regions = [] { return one(halved()); }});
  out.push_back({.what = "rank 0",
                 .operands = {random_literal(kScalar, 3), random_literal(kScalar, 4)},
                 .attrs = {{"dimensions", Ints{}}},
                 .regions = [] { return one(sine_of_product()); }});
  out.push_back({.what = "empty",
                 .operands = {Literal(Type(DType::f64, {0})), Literal(Type(DType::f64, {0}))},
                 .attrs = {{"dimensions", Ints{0}}},
                 .regions = [] { return one(sine_of_product()); }});
});

std::string map_message(const std::vector<Type>& types, const Ints& dims,
                        std::unique_ptr<Block> region) {
  try {
    build(types, [&](Builder& b, const Values& v) {
      return b.create("stablehlo.map", v, {{"dimensions", dims}}, one(std::move(region))).results();
    });
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Map, RefusesBrokenConstraints) {
  Type x(DType::f64, {2, 3});
  EXPECT_EQ(map_message({x, x}, {0, 1}, sine_of_product()), "");
  EXPECT_THAT(map_message({x, Type(DType::f64, {3, 2})}, {0, 1}, sine_of_product()),
              HasSubstr("(C1)"));
  EXPECT_THAT(map_message({}, {}, sine_of_product()), HasSubstr("(C2)"));
  EXPECT_THAT(map_message({x, x}, {1, 0}, sine_of_product()),
              testing::says("(C3) dimensions must be [0, 1]"));
  EXPECT_THAT(map_message({x}, {0, 1}, sine_of_product()),
              testing::says("(C4) the computation takes 2 arguments for 1 inputs"));
  EXPECT_THAT(map_message({x, x.with(DType::f32)}, {0, 1}, sine_of_product()),
              testing::says("(C4) argument 1"));
  auto array = build({kScalar, kScalar}, [](Builder& b, const Values& v) {
    return Values{reshape(b, v[0], Shape{1})};
  });
  EXPECT_THAT(map_message({x, x}, {0, 1}, std::move(array)),
              testing::says("(C4) the computation must return one scalar"));
}

// ---- chlo.scan

const Type kPair(DType::f64, {2});
Attrs scan_attrs(std::int64_t dimension, bool reverse) {
  return {{"dimension", dimension}, {"num_carries", std::int64_t{1}}, {"is_reverse", reverse}};
}
std::unique_ptr<Block> running() {
  return build({kPair, kPair}, [](Builder& b, const Values& v) {
    Value* next = add(b, mul(b, v[0], v[1]), v[0]);
    return Values{sin(b, next), next};
  });
}

const bool scan_samples = add_samples("chlo.scan", [](std::vector<Sample>& out) {
  for (bool reverse : {false, true})
    out.push_back(
        {.what = reverse ? "last to first" : "along the last dimension",
         .operands = {random_literal(Type(DType::f64, {2, 4}), 5), random_literal(kPair, 6)},
         .attrs = scan_attrs(1, reverse),
         .regions = [] { return one(running()); }});
  out.push_back({.what = "no steps",
                 .operands = {Literal(Type(DType::f64, {0, 2})), random_literal(kPair, 7)},
                 .attrs = scan_attrs(0, false),
                 .regions = [] { return one(running()); }});
});

std::string scan_message(const std::vector<Type>& types, const Attrs& attrs,
                         std::unique_ptr<Block> region) {
  try {
    build(types, [&](Builder& b, const Values& v) {
      return b.create("chlo.scan", v, attrs, one(std::move(region))).results();
    });
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(ChloScan, RefusesBrokenConstraints) {
  Type x(DType::f64, {2, 4});
  EXPECT_EQ(scan_message({x, kPair}, scan_attrs(1, false), running()), "");
  EXPECT_THAT(scan_message({x, kPair}, scan_attrs(2, false), running()),
              testing::says("(C1) dimension 2 is out of range"));
  Attrs sized = scan_attrs(1, false);
  sized.set("scan_dim_size", std::int64_t{5});
  EXPECT_THAT(scan_message({x, kPair}, sized, running()), HasSubstr("(C2)"));
  auto no_inputs = build({kPair}, [](Builder&, const Values& v) { return Values{v[0]}; });
  EXPECT_THAT(scan_message({kPair}, scan_attrs(0, false), std::move(no_inputs)),
              testing::says("(C2) without inputs"));
  EXPECT_THAT(scan_message({x, kPair}, scan_attrs(0, false), running()),
              testing::says("(C3) argument 0"));
  auto narrow = build({kPair, kPair}, [](Builder& b, const Values& v) {
    return Values{v[0], convert(b, v[1], DType::f32)};
  });
  EXPECT_THAT(scan_message({x, kPair}, scan_attrs(1, false), std::move(narrow)),
              testing::says("(C4) carry 0"));
  Attrs many = scan_attrs(1, false);
  many.set("num_carries", std::int64_t{3});
  EXPECT_THAT(scan_message({x, kPair}, many, running()), HasSubstr("(C5)"));
}

}  // namespace
}  // namespace strata::op
