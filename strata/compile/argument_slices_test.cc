// Slices of arguments are places: layers whose weights are together are one layer's kernels, and
// nothing that is still read is overwritten.
#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using testing::expect_compiled_equals_reference;

constexpr std::int64_t kSide = 20;

/// Row i of the first dimension, without that dimension.
Value* at(Builder& b, Value* x, std::int64_t i) {
  ir::Ints start(static_cast<std::size_t>(x->rank()), 0), limit = x->shape().sizes();
  start[0] = i, limit[0] = i + 1;
  return op::reshape(b, op::slice(b, x, start, limit), Shape::of({limit.begin() + 1, limit.end()}));
}

/// x @ w[0] + x, then @ w[1] and so on.
void layers(Block& block, std::int64_t count) {
  Value *x = block.add_argument(Type(DType::f32, {kSide, kSide})),
        *w = block.add_argument(Type(DType::f32, {count, kSide, kSide}));
  Builder b(block);
  for (std::int64_t i = 0; i < count; ++i)
    x = op::add(
        b,
        op::tanh(b, op::dot_general(b, x, at(b, w, i), {.lhs_contract = {1}, .rhs_contract = {0}})),
        x);
  block.results = {x};
}

TEST(ArgumentSlices, LayersShareTheirKernels) {
  auto kernels = [](std::int64_t count) {
    Block block;
    layers(block, count);
    return make_plan(*prepare(block), {}, testing::v3()).kernels.size();
  };
  EXPECT_EQ(kernels(9), kernels(3));
  Block block;
  layers(block, 5);
  expect_compiled_equals_reference(block);
}

/// Slices that overlap, that are as long as a loop is, and that are too short to be places.
TEST(ArgumentSlices, AreReadWhereTheyLie) {
  Block block;
  Value *x = block.add_argument(Type(DType::f32, {1000})),
        *m = block.add_argument(Type(DType::f32, {7, 300}));
  Builder b(block);
  Value *left = op::slice(b, x, {3}, {503}), *right = op::slice(b, x, {499}, {999}),
        *strided = op::slice(b, x, {0}, {1000}, {2});
  Value* rows = op::slice(b, m, {2, 0}, {4, 300});
  block.results = {op::add(b, op::mul(b, left, right), strided),
                   op::reverse(b, rows, {1}),
                   op::slice(b, m, {1, 5}, {3, 280}),
                   left,
                   op::sub(b, at(b, m, 6), at(b, m, 0)),
                   op::add(b, op::slice(b, x, {0}, {9}), op::slice(b, x, {9}, {18}))};
  expect_compiled_equals_reference(block);
}

/// What takes an argument's memory waits for the slices' readers, or is elsewhere.
TEST(ArgumentSlices, OutliveDonation) {
  for (int kind = 0; kind < 3; ++kind) {
    Block f;
    Value *x = f.add_argument(Type(DType::f32, {4, 300})),
          *y = f.add_argument(Type(DType::f32, {4, 300}));
    Builder b(f);
    Value* row = at(b, x, 2);
    Value* spread = op::broadcast_in_dim(b, row, x->shape(), {1});
    if (kind == 0)
      f.results = {op::add(b, x, spread)};
    else if (kind == 1)
      f.results = {op::add(b, x, y), op::mul(b, row, row)};
    else
      f.results = {op::mul(b, op::add(b, y, spread), x), op::sub(b, x, op::reverse(b, x, {0}))};
    const std::vector<Literal> arguments = testing::arguments_of(f),
                               want = op::evaluate(f, arguments);
    testing::expect_same_bits(testing::run_donated(f, arguments, {true, true}), want,
                              fmt::format("kind {}", kind));
  }
}

/// Slices of a loop's carries, constants and what it goes along.
TEST(ArgumentSlices, InLoops) {
  Block f;
  const Type carry(DType::f32, {3, 300}), row(DType::f32, {300});
  Value *initial = f.add_argument(carry), *constant = f.add_argument(carry),
        *xs = f.add_argument(Type(DType::f32, {5, 3, 300}));
  auto body = std::make_unique<Block>();
  Value *k = body->add_argument(carry), *c = body->add_argument(carry),
        *x = body->add_argument(carry);
  Builder in(*body);
  Value* first = op::reverse(in, op::add(in, at(in, c, 0), at(in, x, 1)), {0});
  Value* next = op::sub(
      in, op::broadcast_in_dim(in, op::mul(in, first, at(in, k, 2)), carry.shape(), {1}), c);
  body->results = {next, op::add(in, at(in, c, 1), first)};
  Builder b(f);
  f.results = op::scan(b, std::move(body), {constant}, {initial}, {xs}, {.length = 5});
  expect_compiled_equals_reference(f);
}

}  // namespace
}  // namespace strata::compile
