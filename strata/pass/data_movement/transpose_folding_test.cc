// Products of which a transposition is read, with their sides exchanged: the same bits, whatever
// is transposed before them.
#include "strata/pass/data_movement/transpose_folding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::pass {
namespace {

using ir::Ints;
using op::Builder;
using op::Literals;
using op::Value;
using op::Values;

std::int64_t transposes(const ir::Block& f) {
  return std::count_if(f.ops().begin(), f.ops().end(),
                       [](const auto& op) { return op->name() == "stablehlo.transpose"; });
}

TEST(Turned, AMatrixTransposed) {
  const Literals given{op::random_literal(Type(DType::f32, {5, 3}), 1),
                       op::random_literal(Type(DType::f32, {3, 4}), 2)};
  auto f = op::testing::build(op::testing::types_of(given), [](Builder& b, const Values& v) {
    return Values{op::transpose(b, op::dot_general(b, v[0], v[1], {{}, {}, {1}, {0}}), {1, 0})};
  });
  const Literals before = op::evaluate(*f, given);
  ASSERT_FALSE(fold_transposes_into_dots(*f))
      << "the left side lies along the sum, the right one does not: "
         "turned, it would be laid out anew";
  auto g = op::testing::build(
      {Type(DType::f32, {3, 5}), given[1].type()}, [](Builder& b, const Values& v) {
        return Values{op::transpose(b, op::dot_general(b, v[0], v[1], {{}, {}, {0}, {0}}), {1, 0})};
      });
  EXPECT_TRUE(fold_transposes_into_dots(*g));
  ir::remove_dead(*g);
  EXPECT_EQ(g->ops().front()->operand(0), g->argument(1));
}

TEST(Turned, RandomProducts) {
  std::mt19937 random(20261127);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto order = [&](int rank) {
    Ints out;
    for (int d = 0; d < rank; ++d) out.push_back(d);
    std::shuffle(out.begin(), out.end(), random);
    return out;
  };
  int turned = 0, read_before = 0;
  for (int turn = 0; turn < 600; ++turn) {
    SCOPED_TRACE(turn);
    const std::int64_t sizes[] = {2, 3, 4, 5};
    const int batch = below(2), sums = 1 + below(2), rows = 1 + below(3), columns = below(3);
    std::vector<std::int64_t> shared;
    for (int d = 0; d < batch + sums; ++d) shared.push_back(sizes[below(4)]);
    // The dimensions of a side, by role, in an order of its own; and those of the array that it is
    // a transposition of.
    Ints of_batch[2], of_sums[2], before[2];
    Type arrays[2];
    for (int side : {0, 1}) {
      const int rank = batch + sums + (side == 0 ? rows : columns);
      const Ints place = order(rank), permutation = order(rank);
      std::vector<std::int64_t> shape(static_cast<std::size_t>(rank)),
          array(static_cast<std::size_t>(rank));
      for (int d = 0; d < rank; ++d)
        shape[static_cast<std::size_t>(place[static_cast<std::size_t>(d)])] =
            d < batch + sums ? shared[static_cast<std::size_t>(d)] : sizes[below(4)];
      for (int d = 0; d < batch; ++d) of_batch[side].push_back(place[static_cast<std::size_t>(d)]);
      for (int d = batch; d < batch + sums; ++d)
        of_sums[side].push_back(place[static_cast<std::size_t>(d)]);
      for (std::size_t d = 0; d < shape.size(); ++d)
        array[static_cast<std::size_t>(permutation[d])] = shape[d];
      before[side] = permutation;
      arrays[side] = Type(DType::f32, Shape(std::vector<Dim>(array.begin(), array.end())));
    }
    Ints behind = order(batch + rows + columns);
    std::swap(*std::find(behind.begin(), behind.end(), batch + rows - 1),
              behind.back());  // rows run along memory
    const Literals given{op::random_literal(arrays[0], 1), op::random_literal(arrays[1], 2)};
    auto f = op::testing::build(op::testing::types_of(given), [&](Builder& b, const Values& v) {
      Value* product =
          op::dot_general(b, op::transpose(b, v[0], before[0]), op::transpose(b, v[1], before[1]),
                          {of_batch[0], of_batch[1], of_sums[0], of_sums[1]});
      return Values{op::transpose(b, product, behind)};
    });
    const Literals want = op::evaluate(*f, given);
    if (!fold_transposes_into_dots(*f)) continue;
    ++turned;
    ASSERT_TRUE(ir::verify(*f).ok()) << ir::verify(*f).message();
    EXPECT_TRUE(op::testing::same(op::evaluate(*f, given)[0], want[0]));
    ir::remove_dead(*f);
    read_before += transposes(*f) < 3;
  }
  EXPECT_GT(turned, 200);
  EXPECT_GT(read_before, 50);  // of transposed sides the arrays themselves
}

}  // namespace
}  // namespace strata::pass
