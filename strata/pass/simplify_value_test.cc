// Simplified programs give the bits they gave before: every rewrite with the constants that trigger
// it, and with others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"
#include "strata/pass/simplify.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Value;
using op::Values;

Literal floats() {
  return Literal::of<float>({4}, {-0.0f, 1.5f, -3, std::numeric_limits<float>::infinity()});
}
Literal flags() { return Literal::of<bool>({4}, {true, false, true, false}); }

void expect_same_bits(const op::Literals& arguments, const op::testing::Program& program) {
  auto f = op::testing::build(op::testing::types_of(arguments), program);
  op::Literals before = op::evaluate(*f, arguments);
  simplify(*f);
  op::Literals after = op::evaluate(*f, arguments);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(op::testing::same(after[i], before[i]))
        << op::testing::to_text(after[i]) << " instead of " << op::testing::to_text(before[i]);
}

TEST(SimplifyValue, ArithmeticWithConstants) {
  for (double c : {0.0, -0.0, 1.0, 2.0, -1.0}) {
    SCOPED_TRACE(c);
    for (auto f : {op::add, op::sub, op::mul, op::div}) {
      expect_same_bits({floats()}, [&](Builder& b, const Values& v) {
        return Values{f(b, v[0], op::full_like(b, v[0], c))};
      });
      expect_same_bits({floats()}, [&](Builder& b, const Values& v) {
        return Values{f(b, op::full_like(b, v[0], c), v[0])};
      });
    }
  }
}

TEST(SimplifyValue, LogicWithConstants) {
  for (double c : {0.0, 1.0})
    for (auto f : {op::and_, op::or_}) {
      SCOPED_TRACE(c);
      expect_same_bits({flags()}, [&](Builder& b, const Values& v) {
        return Values{f(b, v[0], op::full_like(b, v[0], c))};
      });
      expect_same_bits({flags()}, [&](Builder& b, const Values& v) {
        return Values{f(b, op::full_like(b, v[0], c), v[0])};
      });
    }
}

// Every slice of two joined arrays along either dimension, with and without strides, and slices of
// those; joined arrays joined again.
TEST(SimplifyValue, SlicesOfWhatIsJoined) {
  const Literal x = op::random_literal(Type(DType::f32, {3, 4}), 1),
                y = op::random_literal(Type(DType::f32, {2, 4}), 2);
  for (std::int64_t start = 0; start < 5; ++start)
    for (std::int64_t limit = start; limit <= 5; ++limit)
      for (std::int64_t stride : {1, 2}) {
        SCOPED_TRACE(std::to_string(start) + " " + std::to_string(limit) + " " +
                     std::to_string(stride));
        expect_same_bits({x, y}, [&](Builder& b, const Values& v) {
          Value* rows = op::slice(b, op::concatenate(b, {v[0], v[1]}, 0), {start, 1}, {limit, 4},
                                  {stride, 2});
          Value* corner = op::slice(b, op::concatenate(b, {v[0], v[1], v[0], v[1]}, 0), {start, 0},
                                    {limit + 1, 2}, {1, stride});
          Value* again =
              op::slice(b, op::slice(b, v[0], {0, 0}, {3, 4}, {2, stride}), {0, 0}, {2, 2}, {1, 1});
          return Values{rows, corner, again,
                        op::concatenate(b,
                                        {op::concatenate(b, {v[1], v[0]}, 0), v[1],
                                         op::concatenate(b, {v[0], v[0]}, 0)},
                                        0)};
        });
      }
}

TEST(SimplifyValue, ReductionsOfOneElement) {
  for (op::Combiner combiner :
       {op::Combiner::add, op::Combiner::mul, op::Combiner::min, op::Combiner::max})
    for (double init : {0.0, -0.0, 1.0, 7.0}) {
      SCOPED_TRACE(init);
      expect_same_bits({floats()}, [&](Builder& b, const Values& v) {
        Value* row = op::reshape(b, v[0], {4, 1});
        Value* rounded = op::convert(b, row, DType::bf16);
        return Values{op::reduce(b, row, op::scalar(b, DType::f32, init), {1}, combiner),
                      op::reduce(b, rounded, op::scalar(b, DType::bf16, init), {1}, combiner)};
      });
    }
  expect_same_bits({flags()}, [&](Builder& b, const Values& v) {
    return Values{op::reduce(b, op::reshape(b, v[0], {1, 4, 1}), {0, 2}, op::Combiner::add)};
  });
}

// The place of the greatest along a dimension of 1: with a constant to begin with it is chosen for
// each element, with zeros and what is no number the definition stays.
/// The greatest of values and the place of the first of them, over dimension 1.
Values first_greatest(Builder& b, Value* values, Value* places, double init) {
  auto region = std::make_unique<ir::Block>();
  Builder r(*region);
  Value *x = region->add_argument(Type::scalar(DType::f32)),
        *i = region->add_argument(Type::scalar(DType::i32));
  Value *y = region->add_argument(Type::scalar(DType::f32)),
        *j = region->add_argument(Type::scalar(DType::i32));
  Value* first = op::or_(r, op::compare(r, x, y, "GT"), op::compare(r, x, x, "NE"));
  Value* sooner = op::and_(r, op::compare(r, x, y, "EQ"), op::compare(r, i, j, "LT"));
  region->results = {op::select(r, first, x, y), op::select(r, op::or_(r, first, sooner), i, j)};
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(std::move(region));
  return b
      .create("stablehlo.reduce",
              {values, places, op::scalar(b, DType::f32, init), op::scalar(b, DType::i32, 3)},
              {{"dimensions", ir::Ints{1}}, {"combiner", std::string("region")}},
              std::move(regions))
      .results();
}

constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

// Of one element, and of a few that were put together, with places that are, too, or count.
TEST(SimplifyValue, ReductionsOfFewElementsByARegion) {
  const Literal rows = Literal::of<float>(
      {12}, {-0.0f, 0.0f, 1.5f, -3, std::numeric_limits<float>::infinity(),
             std::numeric_limits<float>::quiet_NaN(), 0.0f, -0.0f, 1.5f, 7, 2, 1});
  const Literal places = Literal::of<std::int32_t>({12}, {5, -5, 2, 3, 4, 9, 1, 8, -2, 0, 4, 7});
  for (double init : {-kInf, kInf, 0.0, -0.0, 1.5, kNan})
    for (int terms : {1, 2, 3, 8, 9})
      for (bool counts : {false, true}) {
        SCOPED_TRACE(std::to_string(init) + " and " + std::to_string(terms));
        const op::testing::Program program = [&](Builder& b, const Values& v) {
          Values all[2];
          for (int t = 0; t < terms; ++t)
            for (int a : {0, 1})
              all[a].push_back(
                  op::reshape(b, op::slice(b, v[static_cast<std::size_t>(a)], {t % 7}, {t % 7 + 6}),
                              {2, 1, 3}));
          Value* put[2] = {op::concatenate(b, all[0], 1), op::concatenate(b, all[1], 1)};
          return first_greatest(b, put[0], counts ? op::iota(b, put[1]->type(), 1) : put[1], init);
        };
        expect_same_bits({rows, places}, program);
        auto f = op::testing::build(op::testing::types_of(op::Literals{rows, places}), program);
        simplify(*f);
        const bool stays = std::any_of(f->ops().begin(), f->ops().end(), [](const auto& op) {
          return op->name() == "stablehlo.reduce";
        });
        EXPECT_EQ(stays, terms > 8);
      }
}

// Work on numbers that are broadcast, or constants of one value, is done on the numbers.
TEST(SimplifyValue, WorkOnNumbers) {
  const Literal number =
      Literal::splat(Type::scalar(DType::f32), Literal::of<float>({1}, {2.5f}).element(0));
  for (std::int64_t n : {2, 300}) {
    const op::testing::Program program = [&](Builder& b, const Values& v) {
      const Shape shape{n, 3};
      Value *x = op::broadcast_in_dim(b, v[0], shape, {}),
            *two = op::constant(b, Literal::splat(Type(DType::f32, shape),
                                                  Literal::of<float>({1}, {2.0f}).element(0)));
      Value* less = op::compare(b, x, two, "LT");
      return Values{op::select(b, less, op::tanh(b, x), op::div(b, op::add(b, x, two), x)),
                    op::convert(b, x, DType::bf16), op::add(b, v[1], op::mul(b, x, two))};
    };
    const op::Literals arguments{number, op::random_literal(Type(DType::f32, {n, 3}), 4)};
    expect_same_bits(arguments, program);
    auto f = op::testing::build(op::testing::types_of(arguments), program);
    simplify(*f);
    std::int64_t large = 0;
    for (const auto& op : f->ops())
      large += op->result()->rank() > 0 && op->name() != "stablehlo.broadcast_in_dim" &&
               op->name() != "stablehlo.constant";
    EXPECT_EQ(large, 1);
  }
}

TEST(SimplifyValue, ConstantChoices) {
  for (double c : {0.0, 1.0}) {
    SCOPED_TRACE(c);
    expect_same_bits({floats()}, [&](Builder& b, const Values& v) {
      return Values{
          op::select(b, op::constant(b, Type(DType::i1, {4}), c), v[0], op::neg(b, v[0]))};
    });
    expect_same_bits({floats()}, [&](Builder& b, const Values& v) {
      auto branch = [&](Value* x) {
        return op::testing::build({}, [&](Builder&, const Values&) { return Values{x}; });
      };
      return op::if_(b, op::scalar(b, DType::i1, c), branch(v[0]), branch(op::neg(b, v[0])));
    });
  }
}

TEST(SimplifyValue, MovesThatKeepTheType) {
  expect_same_bits({floats()}, [](Builder& b, const Values& v) {
    return Values{op::pad(b, v[0], op::scalar(b, DType::f32, 9), {1}, {-1}, {0})};
  });
  expect_same_bits(
      {op::testing::run({floats()},
                        [](Builder& b, const Values& v) {
                          return Values{op::reshape(b, v[0], Shape{2, 2})};
                        })[0]},
      [](Builder& b, const Values& v) { return Values{op::transpose(b, v[0], {1, 0})}; });
}

}  // namespace
}  // namespace strata::pass
