// Where a -0 can be: what is proved is never contradicted by values, and what can make one is not
// proved.
#include "strata/pass/negative_zero.h"

#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/control.h"

namespace strata::pass {
namespace {

using ir::Block;
using op::Builder;
using op::Value;

const Type kArray(DType::f32, {6});

bool never(const std::function<Value*(Builder&, Value* any, Value* positive)>& make) {
  Block f;
  Value* any = f.add_argument(kArray);
  Builder b(f);
  f.results = {make(b, any, op::exp(b, any))};
  return NegativeZeroAnalysis(f).never_in(f.results[0]);
}

TEST(NegativeZeroAnalysis, ComeFromWhereNothingIsKnown) {
  EXPECT_FALSE(never([](Builder&, Value* any, Value*) { return any; }));
  EXPECT_FALSE(never([](Builder& b, Value*, Value* p) { return op::neg(b, p); }));
  EXPECT_FALSE(never([](Builder& b, Value*, Value* p) { return op::mul(b, p, op::exp(b, p)); }));
  EXPECT_FALSE(never([](Builder& b, Value* any, Value* p) { return op::max(b, any, p); }));
  EXPECT_FALSE(never([](Builder& b, Value*, Value*) { return op::constant(b, kArray, -0.0); }));
  EXPECT_FALSE(never([](Builder& b, Value*, Value* p) {
    return op::convert(b, op::convert(b, p, DType::f16), DType::f32);
  }));
}

TEST(NegativeZeroAnalysis, AreNotMadeBySumsSquaresAndConstants) {
  EXPECT_TRUE(never([](Builder&, Value*, Value* p) { return p; }));
  EXPECT_TRUE(never([](Builder& b, Value* any, Value* p) { return op::add(b, any, p); }));
  EXPECT_TRUE(never([](Builder& b, Value* any, Value* p) { return op::add(b, p, any); }));
  EXPECT_FALSE(never([](Builder& b, Value* any, Value*) { return op::add(b, any, any); }));
  EXPECT_TRUE(never([](Builder& b, Value* any, Value*) { return op::mul(b, any, any); }));
  EXPECT_TRUE(never([](Builder& b, Value*, Value*) { return op::constant(b, kArray, 0.0); }));
  EXPECT_TRUE(never([](Builder& b, Value* any, Value*) { return op::abs(b, any); }));
}

TEST(NegativeZeroAnalysis, ArePassedOnByMoves) {
  for (bool known : {true, false}) {
    auto of = [&](Value* any, Value* p) { return known ? p : any; };
    EXPECT_EQ(known, never([&](Builder& b, Value* any, Value* p) {
                return op::reshape(b, of(any, p), Shape{2, 3});
              }));
    EXPECT_EQ(known, never([&](Builder& b, Value* any, Value* p) {
                return op::dynamic_update_slice(b, p, op::slice(b, of(any, p), {0}, {2}),
                                                {op::scalar(b, DType::i32, 1)});
              }));
    EXPECT_EQ(known, never([&](Builder& b, Value* any, Value* p) {
                return op::pad(b, of(any, p), op::scalar(b, DType::f32, 0), {1}, {1});
              }));
    EXPECT_EQ(known, never([&](Builder& b, Value* any, Value* p) {
                return op::select(b, op::compare(b, any, p, "LT"), p, of(any, p));
              }));
  }
}

/// A loop's carry that begins as `initial` and becomes what `next` makes of it.
bool never_carried(bool by_while, bool known, const std::function<Value*(Builder&, Value*)>& next) {
  Block f;
  Value* any = f.add_argument(kArray);
  Builder b(f);
  auto body = std::make_unique<Block>();
  Value* carry = body->add_argument(kArray);
  Builder in(*body);
  body->results = {next(in, carry)};
  Value* initial = known ? op::exp(b, any) : any;
  if (by_while) {
    auto condition = std::make_unique<Block>();
    Value* v = condition->add_argument(kArray);
    Builder c(*condition);
    condition->results = {op::compare(c, op::reshape(c, op::slice(c, v, {0}, {1}), Shape{}),
                                      op::scalar(c, DType::f32, 9), "LT")};
    f.results = op::while_(b, std::move(condition), std::move(body), {initial});
  } else {
    f.results = op::scan(b, std::move(body), {}, {initial}, {}, {.length = 3});
  }
  return NegativeZeroAnalysis(f).never_in(f.results[0]);
}

TEST(NegativeZeroAnalysis, OfACarryAreThoseOfItsTurns) {
  auto doubled = [](Builder& b, Value* v) { return op::add(b, v, v); };
  auto negated = [](Builder& b, Value* v) { return op::neg(b, v); };
  for (bool by_while : {false, true}) {
    EXPECT_TRUE(never_carried(by_while, true, doubled));
    EXPECT_FALSE(never_carried(by_while, false, doubled));
    EXPECT_FALSE(never_carried(by_while, true, negated));
  }
}

}  // namespace
}  // namespace strata::pass
