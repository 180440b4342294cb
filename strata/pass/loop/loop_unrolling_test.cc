// Which loops are written out, and that they compute what they did.
#include "strata/pass/loop/loop_unrolling.h"

#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/run.h"

namespace strata::pass {
namespace {

using op::Block;
using op::Builder;
using op::Value;
using op::Values;

const Type kCounter(DType::i32, {}), kArray(DType::ui32, {5});

Value* number(Builder& b, std::int32_t n) { return op::constant(b, Literal::scalar(n)); }

/// for (i = 0; i < turns; i += step) x = body(x, i), from an initial i that `start` makes.
std::unique_ptr<Block> loop(
    std::int32_t turns, std::int32_t step,
    const std::function<Value*(Builder&, Value* x, Value* i)>& body,
    const std::function<Value*(Builder&, Value* argument)>& start = [](Builder& b, Value*) {
      return number(b, 0);
    }) {
  return op::testing::build({kArray, kCounter}, [&](Builder& b, const Values& v) {
    auto condition = std::make_unique<Block>(), turn = std::make_unique<Block>();
    Value* i = condition->add_argument(kCounter);
    condition->add_argument(kArray);
    Builder cb(*condition);
    condition->results = {op::compare(cb, i, number(cb, turns), "LT")};
    Value *j = turn->add_argument(kCounter), *x = turn->add_argument(kArray);
    Builder tb(*turn);
    Value* next = body(tb, x, j);
    turn->results = {op::add(tb, j, number(tb, step)), next};
    return Values{op::while_(b, std::move(condition), std::move(turn), {start(b, v[1]), v[0]})[1]};
  });
}

bool is_written_out(const Block& block) {
  bool found = false;
  ir::walk(block, [&](const op::Op& op) { found |= !op.regions.empty(); });
  return !found;
}

/// The law: the same values, whether it was written out or not.
bool unrolled(std::unique_ptr<Block> f) {
  op::Literals arguments{Literal(kArray), Literal::scalar(std::int32_t{1})};
  for (int i = 0; i < 5; ++i) arguments[0].set_integer(i, 7 * i + 3);
  op::Literals before = op::evaluate(*f, arguments);
  unroll_loops(*f);
  op::Literals after = op::evaluate(*f, arguments);
  EXPECT_TRUE(op::testing::same(before[0], after[0])) << op::testing::to_text(after[0]);
  return is_written_out(*f);
}

Value* mixed(Builder& b, Value* x, Value* i) {
  return op::add(b, op::mul(b, x, x),
                 op::broadcast_in_dim(b, op::convert(b, i, DType::ui32), x->shape(), {}));
}

TEST(Unroll, short_loops_over_arrays_are_written_out) {
  for (std::int32_t turns : {0, 1, 5, 8}) EXPECT_TRUE(unrolled(loop(turns, 1, mixed))) << turns;
  EXPECT_TRUE(unrolled(loop(20, 4, mixed)));
}

TEST(Unroll, long_loops_stay) {
  EXPECT_FALSE(unrolled(loop(9, 1, mixed)));
  EXPECT_FALSE(unrolled(loop(100000, 20000, [](Builder& b, Value* x, Value* i) {
    for (int n = 0; n < 150; ++n) x = mixed(b, x, i);
    return x;
  }))) << "the turns are few, but what they hold is much";
}

TEST(Unroll, what_is_known_at_run_time_only_stays) {
  EXPECT_FALSE(unrolled(loop(5, 1, mixed, [](Builder&, Value* argument) { return argument; })));
}

TEST(Unroll, counters_may_be_computed) {
  EXPECT_TRUE(unrolled(loop(
      5, 1, mixed, [](Builder& b, Value*) { return op::sub(b, number(b, 3), number(b, 2)); })));
}

TEST(Unroll, what_is_no_elementwise_work_stays) {
  EXPECT_FALSE(unrolled(loop(3, 1, [](Builder& b, Value* x, Value*) {
    return op::broadcast_in_dim(b, op::reduce_sum(b, x, {0}), x->shape(), {});
  })));
}

TEST(Unroll, loops_in_loops_are_found) {
  auto inner = [](Builder& b, Value* x, Value* i) {
    auto condition = std::make_unique<Block>(), turn = std::make_unique<Block>();
    Builder cb(*condition), tb(*turn);
    condition->results = {op::compare(cb, condition->add_argument(kCounter), number(cb, 2), "LT")};
    condition->add_argument(kArray);
    Value *j = turn->add_argument(kCounter), *y = turn->add_argument(kArray);
    turn->results = {op::add(tb, j, number(tb, 1)), mixed(tb, y, i)};
    return op::while_(b, std::move(condition), std::move(turn), {number(b, 0), x})[1];
  };
  EXPECT_TRUE(unrolled(loop(3, 1, inner)));
  auto f = loop(30, 1, inner);
  EXPECT_FALSE(unrolled(loop(30, 1, inner)));
  unroll_loops(*f);
  int loops = 0;
  ir::walk(*f, [&](const op::Op& op) { loops += !op.regions.empty(); });
  EXPECT_EQ(loops, 1);
}

}  // namespace
}  // namespace strata::pass
