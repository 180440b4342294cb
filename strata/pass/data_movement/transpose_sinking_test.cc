// Transpositions of products sink to the next product: the same bits, and nothing between the two
// is transposed.
#include "strata/pass/data_movement/transpose_sinking.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "strata/ir/pass/pass.h"
#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"
#include "strata/pass/simplify.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Literals;
using op::Value;
using op::Values;

const Shape kQueries{2, 64, 2, 4, 8},
    kKeys{2, 64, 2, 8};  // batch, place, shared head, heads that share it, features

Literals arguments() {
  return {op::random_literal(Type(DType::f32, kQueries), 1),
          op::random_literal(Type(DType::f32, kKeys), 2),
          op::random_literal(Type(DType::f32, kKeys), 3),
          op::random_literal(Type(DType::f32, {64, 64}), 4)};
}

/// Softmax as a mapped function has it: the mapped dimension first. `also`: what else is returned.
op::testing::Program attention(
    const std::function<Values(Builder&, Value* scores, Value* chances)>& also) {
  return [also](Builder& b, const Values& v) {
    const Shape shape{4, 2, 2, 64, 64};
    Value* scores = op::dot_general(
        b, v[0], v[1], {{0, 2}, {0, 2}, {4}, {3}});  // batch, shared head, place, heads, place
    scores = op::mul(b, scores, op::full_like(b, scores, 0.5));
    Value* x = op::transpose(b, scores, {3, 0, 1, 2, 4});
    x = op::add(b, x, op::broadcast_in_dim(b, v[3], shape, {3, 4}));
    Value* e = op::exp(
        b, op::sub(b, x, op::broadcast_in_dim(b, op::reduce_max(b, x, {4}), shape, {0, 1, 2, 3})));
    Value* chances =
        op::div(b, e, op::broadcast_in_dim(b, op::reduce_sum(b, e, {4}), shape, {0, 1, 2, 3}));
    Value* y =
        op::dot_general(b, v[2], chances,
                        {{0, 2}, {1, 2}, {1}, {4}});  // batch, shared head, features, heads, place
    Values out{op::transpose(b, y, {0, 4, 1, 3, 2})};
    for (Value* more : also(b, x, chances)) out.push_back(more);
    return out;
  };
}

/// Transpositions of arrays of so many elements that are left.
std::int64_t large_transposes(const ir::Block& f) {
  std::int64_t out = 0;
  for (const auto& op : f.ops())
    out += op->name() == "stablehlo.transpose" && op->result()->shape().count() >= 1 << 16;
  return out;
}

void expect_sunk(const op::testing::Program& program, std::int64_t left) {
  const Literals given = arguments();
  auto f = op::testing::build(op::testing::types_of(given), program);
  const Literals before = op::evaluate(*f, given);
  EXPECT_TRUE(sink_transposes(*f));
  simplify(*f);
  EXPECT_EQ(large_transposes(*f), left);
  const Literals after = op::evaluate(*f, given);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(op::testing::same(after[i], before[i])) << i;
  EXPECT_FALSE(sink_transposes(*f) && large_transposes(*f) > left);
}

TEST(SunkTranspose, ReachesTheNextProduct) {
  expect_sunk(attention([](Builder&, Value*, Value*) { return Values{}; }), 0);
}

// What something else reads is transposed for it; a sum over another dimension, and a product with
// what sinks on both sides.
TEST(SunkTranspose, LeavesWhatOthersRead) {
  expect_sunk(attention([](Builder&, Value*, Value* chances) { return Values{chances}; }), 1);
  expect_sunk(attention([](Builder& b, Value* x, Value*) {
                return Values{op::reduce_sum(b, x, {3}), op::reduce_max(b, x, {1}),
                              op::reduce_sum(b, x, {3, 4})};
              }),
              1);
  expect_sunk(attention([](Builder& b, Value* x, Value* chances) {
                return Values{op::dot_general(b, x, chances, {{2, 0}, {2, 0}, {4, 1}, {4, 1}})};
              }),
              0);
}

// Permutations that are not their own inverses, and rows that are no rows where they were made,
// whose sums have an order of their own.
TEST(SunkTranspose, ThreeDimensionsInARing) {
  const Literals given{op::random_literal(Type(DType::f32, {8, 16, 12, 6}), 1),
                       op::random_literal(Type(DType::f32, {6, 48}), 2),
                       op::random_literal(Type(DType::f32, {48, 5}), 3)};
  auto exponentials = [](Builder& b, const Values& v) {
    return op::exp(b, op::transpose(b, op::dot_general(b, v[0], v[1], {{}, {}, {3}, {0}}),
                                    {1, 2, 0, 3}));  // 16, 12, 8, 48
  };
  const op::testing::Program programs[] = {
      [&](Builder& b, const Values& v) {
        return Values{op::dot_general(b, exponentials(b, v), v[2], {{}, {}, {3}, {0}})};
      },
      [&](Builder& b, const Values& v) {
        return Values{op::dot_general(b, v[2], exponentials(b, v), {{}, {}, {0}, {3}})};
      },
      [&](Builder& b, const Values& v) {
        return Values{op::reduce_sum(b, op::transpose(b, exponentials(b, v), {0, 2, 3, 1}), {3})};
      },
      [&](Builder& b, const Values& v) {
        return Values{op::reduce_sum(b, op::transpose(b, exponentials(b, v), {0, 2, 3, 1}), {2})};
      },
  };
  for (const op::testing::Program& program : programs) {
    auto f = op::testing::build(op::testing::types_of(given), program);
    const Literals before = op::evaluate(*f, given);
    EXPECT_TRUE(sink_transposes(*f));
    const Literals after = op::evaluate(*f, given);
    EXPECT_TRUE(op::testing::same(after[0], before[0])) << &program - programs;
  }
}

/// Whatever its size, a transposition of which nothing is left then: maps of it end in products.
TEST(SunkTranspose, MapsThatEndInProducts) {
  const Type matrix(DType::f32, {6, 4}), vector(DType::f32, {6}), stack(DType::f32, {2, 3, 4});
  struct Case {
    const char* name;
    op::testing::Program program;
    bool sinks;
  };
  auto scaled = [](Builder& b, Value* x) { return op::mul(b, op::full_like(b, x, 0.25), x); };
  auto turned = [](Builder& b, Value* x) { return op::transpose(b, x, {1, 0}); };
  const Case cases[] = {
      {"a step of linear regression",
       [&](Builder& b, const Values& v) {
         return Values{op::dot_general(b, scaled(b, turned(b, v[0])), v[1], {{}, {}, {1}, {0}})};
       },
       true},
      {"scaled by row, twice read",
       [&](Builder& b, const Values& v) {
         Value* x = turned(b, v[0]);
         Value* y = op::mul(b, x, op::broadcast_in_dim(b, v[1], x->shape(), {1}));
         return Values{op::dot_general(b, y, scaled(b, y), {{}, {}, {1}, {1}}), turned(b, y)};
       },
       true},
      {"returned, too",
       [&](Builder& b, const Values& v) {
         Value* x = scaled(b, turned(b, v[0]));
         return Values{x, op::dot_general(b, x, v[1], {{}, {}, {1}, {0}})};
       },
       false},
      {"beside what is not transposed",
       [&](Builder& b, const Values& v) {
         Value* x = turned(b, v[0]);
         return Values{op::dot_general(b, op::add(b, x, op::reshape(b, v[0], x->shape())), v[1],
                                       {{}, {}, {1}, {0}})};
       },
       false},
      {"no map between",
       [&](Builder& b, const Values& v) {
         return Values{op::dot_general(b, turned(b, v[0]), v[1], {{}, {}, {1}, {0}})};
       },
       false},
      {"free dimensions in another order",
       [&](Builder& b, const Values& v) {
         Value* x = scaled(b, op::transpose(b, v[2], {1, 0, 2}));
         return Values{
             op::dot_general(b, x, op::slice(b, v[0], {0, 0}, {1, 4}), {{}, {}, {2}, {1}})};
       },
       false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto f = op::testing::build({matrix, vector, stack}, c.program);
    const Literals given{op::random_literal(matrix, 1), op::random_literal(vector, 2),
                         op::random_literal(stack, 3)},
        before = op::evaluate(*f, given);
    EXPECT_EQ(sink_transposes(*f), c.sinks);
    simplify(*f);
    EXPECT_FALSE(c.sinks && std::any_of(f->ops().begin(), f->ops().end(), [](const auto& op) {
                   return op->name() == "stablehlo.transpose";
                 }));
    const Literals after = op::evaluate(*f, given);
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_TRUE(op::testing::same(after[i], before[i])) << i;
  }
}

TEST(SunkTranspose, SmallProductsAndRowsStay) {
  const Literals given = arguments();
  auto rows_turned =
      op::testing::build(op::testing::types_of(given), [](Builder& b, const Values& v) {
        return Values{
            op::exp(b, op::transpose(b, op::dot_general(b, v[0], v[1], {{0, 2}, {0, 2}, {4}, {3}}),
                                     {0, 1, 4, 3, 2}))};
      });
  EXPECT_FALSE(sink_transposes(*rows_turned));
  auto small = op::testing::build({Type(DType::f32, {4, 6})}, [](Builder& b, const Values& v) {
    return Values{op::exp(
        b, op::transpose(
               b, op::reshape(b, op::dot_general(b, v[0], v[0], {{}, {}, {1}, {1}}), {2, 2, 4}),
               {1, 0, 2}))};
  });
  EXPECT_FALSE(sink_transposes(*small));
}

}  // namespace
}  // namespace strata::pass
