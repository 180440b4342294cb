// Pairs of indices of which one says its own position: the same bits as looked up by pairs, and
// what only looks like it is left alone.
#include "strata/pass/data_movement/iota_to_batch_dims.h"

#include <gtest/gtest.h>

#include <functional>

#include "strata/ir/pass/pass.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/index/indexing.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;
using ir::Values;

constexpr std::int64_t kRows = 5, kWords = 7;
const op::IndexDims kPairs{.window = {},
                           .dropped = {0, 1},
                           .operand_batch = {},
                           .indices_batch = {},
                           .index_map = {0, 1},
                           .index_vector = 1};

Value* column(Builder& b, Value* v) { return op::reshape(b, v, Shape{kRows, 1}); }
Value* positions(Builder& b) { return op::iota(b, Type(DType::i32, {kRows}), 0); }

using Index = std::function<Value*(Builder&, Value* y)>;

/// Numbers looked up at pairs, and numbers added there; y may be outside.
std::unique_ptr<Block> looked_up(const Index& first, const Index& second) {
  auto f = std::make_unique<Block>();
  Value *x = f->add_argument(Type(DType::f32, {kRows, kWords})),
        *y = f->add_argument(Type(DType::i32, {kRows}));
  Builder b(*f);
  Value* pairs = op::concatenate(b, {column(b, first(b, y)), column(b, second(b, y))}, 1);
  Value* found = op::gather(b, x, pairs, kPairs, {1, 1});
  f->results = {found, op::scatter(b, x, pairs, op::square(b, found), kPairs, "add", false),
                op::scatter(b, x, pairs, found, kPairs, "assign", false)};
  return f;
}

/// Whether the pass changes the program, which keeps its bits.
bool changes(const Index& first, const Index& second) {
  auto f = looked_up(first, second), changed = ir::clone(*f);
  const bool did = convert_iota_indices_to_batch_dims(*changed);
  ir::remove_dead(*changed);
  EXPECT_TRUE(ir::verify(*changed).ok()) << ir::verify(*changed).message();
  Literal x(Type(DType::f32, {kRows, kWords})), y(Type(DType::i32, {kRows}));
  for (std::int64_t i = 0; i < x.count(); ++i) x.set_number(i, 0.5 + static_cast<double>(i));
  for (std::int64_t i = 0; i < kRows; ++i)
    y.set_integer(i, std::array{3, -1, 9, 0, 3}[static_cast<std::size_t>(i)]);
  auto want = op::evaluate(*f, std::vector{x, y}), got = op::evaluate(*changed, std::vector{x, y});
  for (std::size_t r = 0; r < want.size(); ++r)
    EXPECT_TRUE(want[r].same_bits(got[r])) << "result " << r;
  return did;
}

Value* itself(Builder&, Value* y) { return y; }

TEST(OwnRow, PositionsGoAlong) {
  EXPECT_TRUE(changes([](Builder& b, Value*) { return positions(b); }, itself));
  // As JAX writes them: what is below zero counts from the end.
  EXPECT_TRUE(changes(
      [](Builder& b, Value*) {
        Value* i = positions(b);
        return op::select(b, op::compare(b, i, op::full_like(b, i, 0), "LT"),
                          op::add(b, i, op::full_like(b, i, kRows)), i);
      },
      itself));
  EXPECT_TRUE(changes([](Builder& b, Value*) { return positions(b); },
                      [](Builder& b, Value*) { return positions(b); }));
}

TEST(OwnRow, OtherNumbersAreLookedUp) {
  EXPECT_FALSE(changes(itself, itself));
  EXPECT_FALSE(
      changes([](Builder& b, Value*) { return op::reverse(b, positions(b), {0}); }, itself));
  EXPECT_FALSE(
      changes([](Builder& b, Value*) { return op::full_like(b, positions(b), 0); }, itself));
  // The row after, and the one before; the last of them and the first are outside.
  for (double by : {1.0, -1.0})
    EXPECT_FALSE(changes(
        [&](Builder& b, Value*) {
          return op::add(b, positions(b), op::full_like(b, positions(b), by));
        },
        itself));
  // Positions in a dimension that is longer than they are.
  EXPECT_FALSE(changes(itself, [](Builder& b, Value*) { return positions(b); }));
}

TEST(OwnRow, TwoPositionsLeaveOne) {
  Block f;
  Builder b(f);
  Value *x = f.add_argument(Type(DType::f32, {2, 3, 4})),
        *y = f.add_argument(Type(DType::i32, {2, 3}));
  auto spread = [&](int d) {
    return op::reshape(b, op::iota(b, Type(DType::i32, {2, 3}), d), Shape{2, 3, 1});
  };
  Value* triples = op::concatenate(b, {spread(0), spread(1), op::reshape(b, y, Shape{2, 3, 1})}, 2);
  const op::IndexDims dims{.window = {},
                           .dropped = {0, 1, 2},
                           .operand_batch = {},
                           .indices_batch = {},
                           .index_map = {0, 1, 2},
                           .index_vector = 2};
  f.results = {op::gather(b, x, triples, dims, {1, 1, 1})};
  EXPECT_TRUE(convert_iota_indices_to_batch_dims(f));
  op::IndexDims now = op::gather_dims(f.results[0]->op()->attrs);
  EXPECT_EQ(now.operand_batch, (Ints{0, 1}));
  EXPECT_EQ(now.indices_batch, (Ints{0, 1}));
  EXPECT_EQ(now.index_map, (Ints{2}));
}

// Components that name the operand's dimensions in another order: each dimension goes along with
// its own one of the indices.
TEST(OwnRow, ComponentsInAnotherOrder) {
  const Type numbers(DType::f32, {3, 3, 4}), rows(DType::i32, {3, 3});
  Block f;
  Builder b(f);
  Value *x = f.add_argument(numbers), *y = f.add_argument(rows);
  auto spread = [&](int d) { return op::reshape(b, op::iota(b, rows, d), Shape{3, 3, 1}); };
  for (bool crossed : {false, true}) {  // x[i, j, y] and x[j, i, y]
    Value* triples = op::concatenate(
        b, {spread(crossed ? 0 : 1), spread(crossed ? 1 : 0), op::reshape(b, y, Shape{3, 3, 1})},
        2);
    const op::IndexDims dims{.window = {},
                             .dropped = {0, 1, 2},
                             .operand_batch = {},
                             .indices_batch = {},
                             .index_map = {1, 0, 2},
                             .index_vector = 2};
    f.results.push_back(op::gather(b, x, triples, dims, {1, 1, 1}));
  }
  Literal of_x(numbers), of_y(rows);
  for (std::int64_t i = 0; i < of_x.count(); ++i) of_x.set_number(i, static_cast<double>(i));
  for (std::int64_t i = 0; i < of_y.count(); ++i) of_y.set_integer(i, i * 5 % 4);
  const op::Literals want = op::evaluate(f, std::vector{of_x, of_y});
  EXPECT_TRUE(convert_iota_indices_to_batch_dims(f));
  const op::Literals got = op::evaluate(f, std::vector{of_x, of_y});
  for (std::size_t r = 0; r < want.size(); ++r)
    EXPECT_TRUE(want[r].same_bits(got[r])) << "result " << r;
}

}  // namespace
}  // namespace strata::pass
