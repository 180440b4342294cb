// Sums that go on from others have the bits of one sum; only marked additions are said so.
#include "strata/pass/dot/accumulator_folding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/reduce/combiner.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

constexpr std::int64_t kRows = 2048, kParts = 4, kTurns = 3;

/// What is summed over the rows of x (rows, 6) and y (rows, 5).
using Sum = Value* (*)(Builder&, Value* x, Value* y);

Value* product(Builder& b, Value* x, Value* y) {
  return op::dot_general(b, x, y, {.lhs_contract = {0}, .rhs_contract = {0}}, DType::f32);
}
Value* turned(Builder& b, Value* x, Value* y) { return op::transpose(b, product(b, x, y), {1, 0}); }
Value* zero(Builder& b) { return op::scalar(b, DType::f32, 0); }
Value* columns(Builder& b, Value* x, Value*) {
  return op::reduce(b, x, zero(b), {0}, op::Combiner::add);
}
/// As derivatives of stacked layers: a product for each iteration.
Value* stacked(Builder& b, Value* x, Value* y) {
  auto body = std::make_unique<Block>();
  Value *carry = body->add_argument(x->type()), *right = body->add_argument(y->type());
  Builder in(*body);
  Value* next = op::mul(in, carry, op::full_like(in, carry, 0.75));
  body->results = {next, product(in, next, right)};
  const Type all = y->type().with(Shape{kTurns, y->shape()[0], y->shape()[1]});
  Value* ys = op::broadcast_in_dim(b, y, all.shape(), {1, 2});
  return op::scan(b, std::move(body), {}, {x}, {ys}, {.length = kTurns})[1];
}

/// (x, y, sums) -> sums + sum.
struct Program {
  Block block;
  bool changed = false;
  Program(Sum sum, std::int64_t rows, bool mark) {
    Value *x = block.add_argument(Type(DType::f32, {rows, 6})),
          *y = block.add_argument(Type(DType::f32, {rows, 5}));
    Block scratch;
    Builder in(scratch);
    const Type type =
        sum(in, scratch.add_argument(x->type()), scratch.add_argument(y->type()))->type();
    Value* sums = block.add_argument(type);
    Builder b(block);
    Value* out = op::add(b, sums, sum(b, x, y));
    if (mark) mark_accumulator_add(*out->op());
    block.results = {out};
    changed = fold_accumulators(block);
    EXPECT_TRUE(ir::verify(block).ok()) << ir::verify(block).message();
  }
};

Literal numbers(std::int64_t rows, std::int64_t width, int seed) {
  Literal out(Type(DType::f32, {rows, width}));
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 747796405u + 1;
  for (std::int64_t i = 0; i < out.count(); ++i) {
    state = state * 1664525u + 1013904223u;
    out.set_number(i, std::ldexp(static_cast<double>(state >> 8) - 8e6, static_cast<int>(i % 9)));
  }
  return out;
}
Literal rows_of(const Literal& x, std::int64_t first, std::int64_t count) {
  const std::int64_t width = x.shape()[1];
  Literal out(Type(x.dtype(), {count, width}));
  for (std::int64_t i = 0; i < count * width; ++i) out.set_number(i, x.number(first * width + i));
  return out;
}

/// Whether the rows in parts, one after the other, give the bits of all at once.
bool same_bits(Sum sum, bool mark) {
  const Literal x = numbers(kRows, 6, 1), y = numbers(kRows, 5, 2);
  const Program whole(sum, kRows, false), part(sum, kRows / kParts, mark);
  EXPECT_FALSE(whole.changed);
  EXPECT_EQ(part.changed, mark);
  const Literal none(whole.block.argument(2)->type());
  const Literal want = op::evaluate(whole.block, std::vector<Literal>{x, y, none})[0];
  Literal got = none;
  for (std::int64_t i = 0; i < kParts; ++i) {
    const std::int64_t count = kRows / kParts;
    got = op::evaluate(part.block, std::vector<Literal>{rows_of(x, i * count, count),
                                                        rows_of(y, i * count, count), got})[0];
  }
  return std::memcmp(want.data(), got.data(), want.bytes()) == 0;
}

TEST(CarriedSums, HaveTheBitsOfOne) {
  for (Sum sum : {&product, &turned, &columns, &stacked}) EXPECT_TRUE(same_bits(sum, true));
}
TEST(CarriedSums, AreNotMadeUnasked) {
  for (Sum sum : {&product, &turned, &stacked}) EXPECT_FALSE(same_bits(sum, false));
}

// A product that somebody else reads is made as it is; so is one that is rounded.
TEST(CarriedSums, NotOfWhatIsReadBesides) {
  Block block;
  Value *x = block.add_argument(Type(DType::f32, {8, 6})),
        *y = block.add_argument(Type(DType::f32, {8, 5})),
        *sums = block.add_argument(Type(DType::f32, {6, 5}));
  Builder b(block);
  Value *p = product(b, x, y), *out = op::add(b, sums, p);
  mark_accumulator_add(*out->op());
  block.results = {out, p};
  EXPECT_FALSE(fold_accumulators(block));
}

}  // namespace
}  // namespace strata::pass
