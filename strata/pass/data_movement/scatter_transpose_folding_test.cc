// Scatters of transposed updates read them as they are, with the same bits; where dimensions would
// change places among themselves they stay.
#include "strata/pass/data_movement/scatter_transpose_folding.h"

#include <gtest/gtest.h>

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

/// Whether a scatter with these window dimensions reads `shape` without its transposition; the bits
/// must not change.
bool is_turned(const Shape& input, const Shape& indices, const Shape& shape,
               const Ints& permutation, const op::IndexDims& dims) {
  auto f = std::make_unique<Block>();
  Value *x = f->add_argument(Type(DType::f32, input)),
        *i = f->add_argument(Type(DType::i32, indices)),
        *u = f->add_argument(Type(DType::f32, shape));
  Builder b(*f);
  f->results = {op::scatter(b, x, i, op::transpose(b, u, permutation), dims, "add", false)};
  auto changed = ir::clone(*f);
  fold_transposes_into_scatters(*changed);
  ir::remove_dead(*changed);
  EXPECT_TRUE(ir::verify(*changed).ok()) << ir::verify(*changed).message();
  std::vector<Literal> arguments;
  for (const auto& a : f->arguments()) arguments.emplace_back(a->type());
  for (std::int64_t k = 0; k < arguments[1].count(); ++k) arguments[1].set_integer(k, k * k % 3);
  for (std::int64_t k = 0; k < arguments[2].count(); ++k)
    arguments[2].set_number(k, 0.1 * static_cast<double>(k * k % 17) - 0.7);
  const auto want = op::evaluate(*f, arguments), got = op::evaluate(*changed, arguments);
  EXPECT_EQ(std::memcmp(want[0].data(), got[0].data(), want[0].bytes()), 0);
  bool transposes = false;
  ir::walk(*changed, [&](const ir::Op& op) { transposes |= op.name() == "stablehlo.transpose"; });
  return !transposes;
}

constexpr std::int64_t kPlaces = 3, kTimes = 7;
op::IndexDims slices(Ints window, Ints dropped) {
  return {.window = std::move(window),
          .dropped = dropped,
          .operand_batch = {},
          .indices_batch = {},
          .index_map = dropped,
          .index_vector = 1};
}

// A sum by segments of a batch that is the last dimension, whose results are the first.
TEST(TurnUpdates, ABatchThatWasPutFirst) {
  EXPECT_TRUE(
      is_turned(Shape{5, kPlaces}, Shape{kTimes, 1}, Shape{kTimes, 5}, {1, 0}, slices({0}, {1})));
}

TEST(TurnUpdates, AWindowOfTwoDimensionsInItsOrder) {
  EXPECT_TRUE(is_turned(Shape{kPlaces, 2, 4}, Shape{kTimes, 1}, Shape{2, kTimes, 4}, {1, 0, 2},
                        slices({1, 2}, {0})));
}

TEST(TurnUpdates, NotWhereAWindowsDimensionsChangePlaces) {
  EXPECT_FALSE(is_turned(Shape{kPlaces, 2, 4}, Shape{kTimes, 1}, Shape{kTimes, 4, 2}, {0, 2, 1},
                         slices({1, 2}, {0})));
}

}  // namespace
}  // namespace strata::pass
