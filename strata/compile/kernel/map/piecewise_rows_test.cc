// Arrays that are joined, padded, rolled and mirrored along any dimension: the reference's bits,
// and where pieces have loops of their own.
#include "strata/compile/kernel/map/piecewise_rows.h"

#include "strata/compile/compile_testing.h"
#include "strata/op/build.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;
using ir::Values;
using testing::expect_compiled_equals_reference;

Value* part(Builder& b, Value* x, int dim, std::int64_t begin, std::int64_t end) {
  Ints first(static_cast<std::size_t>(x->rank()), 0), last(x->shape().sizes());
  first[static_cast<std::size_t>(dim)] = begin, last[static_cast<std::size_t>(dim)] = end;
  return op::slice(b, x, first, last);
}
/// So many zeros before and behind.
Value* padded(Builder& b, Value* x, int dim, std::int64_t before, std::int64_t behind) {
  Ints low(static_cast<std::size_t>(x->rank()), 0), high = low;
  low[static_cast<std::size_t>(dim)] = before, high[static_cast<std::size_t>(dim)] = behind;
  return op::pad(b, x, op::zeros(b, Type::scalar(x->dtype())), low, high);
}
/// The first element twice before all, the last one behind it.
Value* edged(Builder& b, Value* x, int dim) {
  const std::int64_t n = x->shape()[dim];
  Value* first = part(b, x, dim, 0, 1);
  std::vector<Dim> twice(first->shape().dims());
  twice[static_cast<std::size_t>(dim)] = Dim(2);
  Ints same;
  for (int d = 0; d < x->rank(); ++d) same.push_back(d);
  return op::concatenate(
      b, {op::broadcast_in_dim(b, first, Shape(twice), same), x, part(b, x, dim, n - 1, n)}, dim);
}
Value* mirrored(Builder& b, Value* x, int dim) {
  const std::int64_t n = x->shape()[dim];
  return op::concatenate(
      b, {op::reverse(b, part(b, x, dim, 1, 3), {dim}), x, part(b, x, dim, n - 2, n - 1)}, dim);
}
Value* rolled(Builder& b, Value* x, int dim) {
  const std::int64_t n = x->shape()[dim];
  return op::concatenate(b, {part(b, x, dim, n / 3, n), part(b, x, dim, 0, n / 3)}, dim);
}

bool has_pieces(const Block& block) {
  const Plan plan = make_plan(*prepare(block), {}, testing::v3());
  return std::any_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const auto& k) { return k->name == "piecewise_rows"; });
}

struct Case {
  Shape shape;
  int dim;
};
/// Few and many rows before the dimension, few and many elements behind it, no whole strips of them
/// and whole ones.
const Case kCases[] = {{{40, 50, 7}, 1}, {{3, 500, 4}, 1},  {{2000, 9}, 0},  {{30, 101}, 1},
                       {{9, 33, 64}, 1}, {{20, 6, 100}, 1}, {{2, 40000}, 1}, {{12, 5, 3, 11}, 1}};

TEST(PiecewiseRows, AreTheReferences) {
  for (DType t : {DType::f32, DType::bf16, DType::i8})
    for (const Case& c : kCases)
      for (auto make : {edged, mirrored, rolled}) {
        SCOPED_TRACE(c.shape.to_string());
        Block block;
        Value* x = block.add_argument(Type(t, c.shape));
        Builder b(block);
        block.results = {make(b, x, c.dim)};
        EXPECT_TRUE(has_pieces(block));
        expect_compiled_equals_reference(block, 1, t == DType::f32);
      }
}

TEST(PiecewiseRows, OfAllKindsOfNumbers) {
  for (DType t : {DType::f16, DType::f64, DType::i1, DType::i64, DType::c64, DType::i4}) {
    Block block;
    Value* x = block.add_argument(Type(t, {19, 23, 7}));
    Builder b(block);
    block.results = {mirrored(b, x, 1), rolled(b, x, 1)};
    expect_compiled_equals_reference(block);
  }
}

/// Joints of two dimensions, which make boxes; of what is computed from several such arrays, with
/// several results.
TEST(PiecewiseRows, OfTwoDimensions) {
  for (const Shape& shape :
       {Shape{9, 30, 17, 5}, Shape{2, 30, 17, 5}, Shape{1, 60, 70, 1}, Shape{10, 12, 40, 16}}) {
    Block block;
    Value *x = block.add_argument(Type(DType::f32, shape)),
          *y = block.add_argument(Type(DType::f32, shape));
    Builder b(block);
    Value* both = mirrored(b, edged(b, x, 1), 2);
    Value* product = op::mul(b, rolled(b, rolled(b, x, 1), 2), y);
    block.results = {both, product, op::add(b, product, rolled(b, y, 1)),
                     padded(b, padded(b, op::tanh(b, x), 1, 1, 2), 2, 3, 0)};
    EXPECT_TRUE(has_pieces(block));
    expect_compiled_equals_reference(block);
  }
}

/// A mask by place has a joint, too; one of two dimensions has none that one of them tells.
TEST(PiecewiseRows, MasksByPlace) {
  for (const bool of_both : {false, true}) {
    Block block;
    Value *x = block.add_argument(Type(DType::f32, {60, 100})),
          *y = block.add_argument(Type(DType::f32, {100}));
    Builder b(block);
    const Type places(DType::i32, {60, 100});
    Value *column = op::iota(b, places, 1), *row = op::iota(b, places, 0);
    Value* mask = op::compare(b, column, of_both ? row : op::full_like(b, column, 37), "LT");
    block.results = {op::select(b, mask, x, op::broadcast_in_dim(b, y, x->shape(), {1}))};
    EXPECT_EQ(has_pieces(block), !of_both);
    expect_compiled_equals_reference(block);
  }
}

/// Many arrays in one would be much code; rows of a few elements have kernels of their own.
TEST(PiecewiseRows, OrStrips) {
  Block many, few;
  {
    Value* x = many.add_argument(Type(DType::f32, {20, 40}));
    Builder b(many);
    Values parts;
    for (int i = 0; i < 60; ++i) parts.push_back(op::mul(b, x, op::full_like(b, x, i)));
    many.results = {op::concatenate(b, parts, 1)};
  }
  {
    Value* x = few.add_argument(Type(DType::f32, {2000, 12}));
    Builder b(few);
    few.results = {mirrored(b, x, 1)};
  }
  for (Block* block : {&many, &few}) {
    EXPECT_FALSE(has_pieces(*block));
    expect_compiled_equals_reference(*block);
  }
}

}  // namespace
}  // namespace strata::compile
