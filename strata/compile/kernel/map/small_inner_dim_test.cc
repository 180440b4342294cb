// Short last dimensions: the reference's bits, with and without one value per row, whatever the
// number of rows is a multiple of.
#include <gmock/gmock.h>

#include "strata/compile/compile_testing.h"
#include "strata/compile/processor_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;
using testing::expect_compiled_equals_reference;

/// x[:, j] as [rows].
Value* column(Builder& b, Value* x, std::int64_t j) {
  const std::int64_t rows = x->shape()[0];
  return op::reshape(b, op::slice(b, x, {0, j}, {rows, j + 1}), Shape{rows});
}
Value* beside(Builder& b, const Values& columns) {
  Values parts;
  for (Value* c : columns) parts.push_back(op::reshape(b, c, Shape{c->shape()[0], 1}));
  return op::concatenate(b, parts, 1);
}

std::vector<std::int64_t> grids_of_short_rows(const Block& block,
                                              const CpuTarget& target = testing::v3()) {
  std::vector<std::int64_t> out;
  for (const auto& kernel : make_plan(*prepare(block), {}, target).kernels)
    if (kernel->name == "small_inner_dim") out.push_back(kernel->grid);
  return out;
}
bool has_short_rows(const Block& block) { return !grids_of_short_rows(block).empty(); }

/// Columns of one array mixed and put side by side again, and one value per row besides.
void mixed(Block& block, DType dtype, std::int64_t rows, std::int64_t length) {
  Value* x = block.add_argument(Type(dtype, {rows, length}));
  Builder b(block);
  Values columns;
  for (std::int64_t j = 0; j < length; ++j) columns.push_back(column(b, x, j));
  Value* sum = columns[0];
  for (std::int64_t j = 1; j < length; ++j)
    sum = op::add(b, op::mul(b, sum, columns[static_cast<std::size_t>(j)]), columns[0]);
  Values out;
  for (std::int64_t j = 0; j < length; ++j)
    out.push_back(op::sub(b, sum, columns[static_cast<std::size_t>(length - 1 - j)]));
  Value* y = op::add(b, beside(b, out), x);
  block.results = {y, sum, op::mul(b, y, op::broadcast_in_dim(b, sum, y->shape(), {0}))};
}

TEST(ShortRows, AreTheReferences) {
  for (std::int64_t rows : {1024, 1031, 4096, 9001})
    for (std::int64_t length : {2, 3, 8}) {
      Block block;
      mixed(block, DType::f32, rows, length);
      EXPECT_TRUE(has_short_rows(block)) << rows << " of " << length;
      expect_compiled_equals_reference(block);
    }
}

TEST(ShortRows, OfAllKindsOfNumbers) {
  for (DType dtype :
       {DType::bf16, DType::f16, DType::f64, DType::i8, DType::ui32, DType::i64, DType::c64}) {
    Block block;
    mixed(block, dtype, 1100, 3);
    expect_compiled_equals_reference(block);
  }
}

/// A stack without values per row: each element is of one array, and in lanes along elements all of
/// them would be looked at.
TEST(ShortRows, Stacks) {
  Block block;
  Value *x = block.add_argument(Type(DType::f32, {50, 40})),
        *y = block.add_argument(Type(DType::f32, {50, 40}));
  Builder b(block);
  auto last = [&](Value* v) { return op::reshape(b, v, Shape{50, 40, 1}); };
  block.results = {
      op::concatenate(b, {last(op::reverse(b, x, {1})), last(y), last(op::add(b, x, y))}, 2)};
  EXPECT_TRUE(has_short_rows(block));
  expect_compiled_equals_reference(block);
}

/// x[..., first::step].
Value* every(Builder& b, Value* x, std::int64_t first, std::int64_t step) {
  const std::int64_t rows = x->shape()[0], length = x->shape()[1];
  return op::slice(b, x, {0, first}, {rows, length}, {1, step});
}

/// Pieces that are joined to one long dimension: the pairs (or more) of a rotation of neighbours
/// are rows again.
TEST(ShortRows, JoinedToALongDimension) {
  for (DType dtype : {DType::f32, DType::bf16, DType::ui8})
    for (std::int64_t step : {2, 3, 4, 5})
      for (std::int64_t length : {48 * step, 37 * step}) {
        const std::int64_t rows = 129;
        Block block;
        Value *x = block.add_argument(Type(dtype, {rows, length})),
              *c = block.add_argument(Type(dtype, {rows, length / step}));
        Builder b(block);
        Values parts;
        for (std::int64_t j = 0; j < step; ++j) {
          Value* turned =
              op::sub(b, op::mul(b, every(b, x, j, step), c), every(b, x, (j + 1) % step, step));
          parts.push_back(op::reshape(b, turned, Shape{rows, length / step, 1}));
        }
        block.results = {op::reshape(b, op::concatenate(b, parts, 2), x->shape())};
        EXPECT_TRUE(has_short_rows(block)) << step;
        expect_compiled_equals_reference(block);
        const std::vector<Literal> arguments = testing::arguments_of(block);
        testing::expect_same_bits(testing::run_donated(block, arguments, {true, true}),
                                  op::evaluate(block, arguments), "donated");
      }
}

/// Norms of points, softmax of a few, extremes, products; with elements that only a sum reads, and
/// with what each row's sum is used for.
// As jax.lax.associative_scan puts its halves between each other, of which the first may be an
// element longer: whole rows of two, and that element, which has a kernel of its own where all rows
// use equal points (two of 4096).
TEST(ShortRows, ArraysBetweenEachOther) {
  for (std::int64_t n : {33, 501, 502, 8193, 9003, 16385}) {
    Block block;
    Builder b(block);
    Value *x = block.add_argument(Type(DType::i32, {(n + 1) / 2})),
          *y = block.add_argument(Type(DType::i32, {n / 2})),
          *z = block.add_argument(Type(DType::i32, {n}));
    Value* zero = op::scalar(b, DType::i32, 0);
    block.results = {op::add(b,
                             op::add(b, op::pad(b, x, zero, {0}, {n % 2 == 0}, {1}),
                                     op::pad(b, y, zero, {1}, {n % 2}, {1})),
                             z)};
    EXPECT_TRUE(has_short_rows(block)) << n;
    expect_compiled_equals_reference(block);
  }
}

TEST(ShortRows, Reductions) {
  for (DType dtype : {DType::f32, DType::bf16, DType::i32})
    for (std::int64_t length : {2, 3, 5, 8, 9, 12, 15, 16, 17, 27, 32})
      for (std::int64_t rows : {1024, 6151}) {
        Block block;
        Value* x = block.add_argument(Type(dtype, {rows, length}));
        Builder b(block);
        auto along = [&](Value* row) { return op::broadcast_in_dim(b, row, x->shape(), {0}); };
        Value *squares = op::reduce_sum(b, op::mul(b, x, x), {1}),
              *most = op::reduce_max(b, x, {1}), *least = op::reduce_min(b, x, {1});
        Value* off = op::sub(b, x, along(most));
        block.results = {squares, op::mul(b, off, along(op::reduce_sum(b, off, {1}))),
                         op::add(b, most, least), op::add(b, along(squares), x)};
        EXPECT_TRUE(has_short_rows(block));
        expect_compiled_equals_reference(block);
      }
}

/// Points have equally many rows where a number near the usual one divides them; a shorter last one
/// is a kernel of its own, and so is what squares leave over.
/// Squares are of eight elements with AVX2 and of sixteen with AVX-512, where rows are as long.
TEST(ShortRows, GoByEqualPoints) {
  auto grids = [](std::int64_t rows, std::int64_t length, const char* target = "x86-64-v3") {
    Block block;
    Value* x = block.add_argument(Type(DType::f32, {rows, length}));
    Builder b(block);
    block.results = {op::reduce_sum(b, x, {1})};
    return grids_of_short_rows(block, CpuTarget::of(target));
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(grids(100000, 10), ElementsAre(25));
  EXPECT_THAT(grids(6000, 5), ElementsAre(1));
  EXPECT_THAT(grids(6151, 5), ElementsAre(1, 1));
  EXPECT_THAT(grids(3000, 32), ElementsAre(3));
  EXPECT_THAT(grids(1500, 32), ElementsAre(1, 1));
  EXPECT_THAT(grids(4099, 32), ElementsAre(4, 1));
  EXPECT_THAT(grids(100000, 10, "x86-64-v4"), ElementsAre(25));
  EXPECT_THAT(grids(3000, 32, "x86-64-v4"), ElementsAre(2, 1, 1));
}

/// Bits of zeros, infinities and NaN are those of the order with 32 lanes.
TEST(ShortRows, ReductionsOfOddNumbers) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> odd = {0.0f, -0.0f, inf, -inf, nan, 1.0f, 1e38f, -1e-40f};
  for (std::int64_t length : {4, 16, 20}) {
    Block block;
    Value* x = block.add_argument(Type(DType::f32, {2048, length}));
    Builder b(block);
    block.results = {op::reduce_sum(b, x, {1}), op::reduce_max(b, x, {1}),
                     op::reduce_min(b, x, {1}), op::reduce(b, x, {1}, op::Combiner::mul)};
    Literal values(x->type());
    for (std::int64_t i = 0; i < values.count(); ++i)
      values.set_number(i, odd[static_cast<std::size_t>((i / length) >> (3 * (i % 4))) % 8]);
    EXPECT_TRUE(has_short_rows(block));
    const std::vector<Literal> arguments{values};
    testing::expect_same_bits(testing::run_compiled(block, arguments),
                              op::evaluate(block, arguments), "odd numbers");
  }
}

/// Rows that are squares, or two that overlap: beside what is one number for each row,
/// one for each column, and neighbours in a longer row; in donated memory, too.
TEST(ShortRows, Squares) {
  for (std::int64_t length : {8, 11, 16, 19, 32})
    for (DType dtype : {DType::f32, DType::bf16}) {
      const std::int64_t rows = 4096 + 16 * 3 + 5;
      Block f;
      Builder b(f);
      Value *x = f.add_argument(Type(dtype, {rows, length})),
            *bias = f.add_argument(Type(dtype, {length})),
            *scale = f.add_argument(Type(dtype, {rows})),
            *wide = f.add_argument(Type(dtype, {rows, length + 1}));
      Value* y = op::add(b, op::mul(b, x, op::broadcast_in_dim(b, scale, x->shape(), {0})),
                         op::broadcast_in_dim(b, bias, x->shape(), {1}));
      y = op::add(b, y, op::slice(b, wide, {0, 1}, {rows, length + 1}));
      Value* off =
          op::sub(b, y, op::broadcast_in_dim(b, op::reduce_max(b, y, {1}), x->shape(), {0}));
      Value* e = op::exp(b, off);
      f.results = {
          op::div(b, e, op::broadcast_in_dim(b, op::reduce_sum(b, e, {1}), x->shape(), {0}))};
      EXPECT_TRUE(has_short_rows(f));
      const std::vector<Literal> arguments = testing::arguments_of(f);
      const std::vector<Literal> want = op::evaluate(f, arguments);
      testing::expect_same_bits(testing::run_compiled(f, arguments), want, "squares");
      for (const char* processor : {"x86-64-v3", "x86-64-v4"})
        testing::expect_same_bits({testing::run_as_on(processor, f, arguments)}, want, processor);
      testing::expect_same_bits(testing::run_donated(f, arguments, {true, false, false, false}),
                                op::evaluate(f, arguments), "donated");
    }
}

/// What is read where it is written stays in lanes along the elements, in donated memory, too.
/// Lanes run along the second, not across to the first's next element.
TEST(ShortRows, OfEachPairOfTwoArrays) {
  for (std::int64_t length : {2, 3, 8})
    for (const auto& [n, m] :
         {std::pair<std::int64_t, std::int64_t>{50, 75}, {7, 1001}, {300, 17}, {40, 64}, {50, 9}}) {
      SCOPED_TRACE(fmt::format("{} x {} x {}", n, m, length));
      Block f;
      Builder b(f);
      Value *x = f.add_argument(Type(DType::f32, {n, length})),
            *y = f.add_argument(Type(DType::f32, {m, length}));
      const Shape all{n, m, length};
      Value* apart = op::sub(b, op::broadcast_in_dim(b, x, all, {0, 2}),
                             op::broadcast_in_dim(b, y, all, {1, 2}));
      f.results = {op::reduce_sum(b, op::mul(b, apart, apart), {2}), op::reduce_max(b, apart, {2})};
      EXPECT_TRUE(has_short_rows(f));
      expect_compiled_equals_reference(f);
      bool divides = false;
      for (const auto& kernel : make_plan(*prepare(f), {}, testing::v3()).kernels)
        for (const loop::Inst& inst : kernel->arena)
          divides |= inst.code == loop::Opcode::rem && inst.type.lanes > 1;
      EXPECT_EQ(divides, m < 16) << "lanes cross from an element of the first to the next";
    }
}

TEST(ShortRows, MapsInPlaceStay) {
  Block f;
  Value *x = f.add_argument(Type(DType::f32, {2000, 2})),
        *y = f.add_argument(Type(DType::f32, {2000, 2}));
  Builder b(f);
  f.results = {op::mul(b, op::add(b, x, y), x)};
  EXPECT_FALSE(has_short_rows(f));
  Block g;
  Value* z = g.add_argument(Type(DType::f32, {2000, 2}));
  Builder c(g);
  g.results = {
      op::add(c, z, beside(c, {column(c, z, 0), op::mul(c, column(c, z, 1), column(c, z, 1))}))};
  const std::vector<Literal> arguments = testing::arguments_of(g);
  testing::expect_same_bits(testing::run_donated(g, arguments, {true}), op::evaluate(g, arguments),
                            "donated");
}

}  // namespace
}  // namespace strata::compile
