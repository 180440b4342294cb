// Batches that are an operand's last dimension: said anew with the bits of before, and nothing else
// is touched.
#include "strata/pass/dot/dot_batch_layout.h"

#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::pass {
namespace {

struct Case {
  Shape left, right;
  op::DotDims dims;
};

/// dba,adc->abc; abd,dca->abc; two batches of which the second is last; ones behind the batch; two
/// of which one is last here, one there.
const Case kCases[] = {{{20, 4, 64}, {64, 20, 3}, {{2}, {0}, {0}, {1}}},
                       {{64, 4, 20}, {20, 5, 64}, {{0}, {2}, {2}, {0}}},
                       {{3, 7, 10, 32}, {3, 32, 7, 4}, {{0, 3}, {0, 1}, {1}, {2}}},
                       {{9, 12, 64, 1}, {64, 9}, {{2}, {0}, {0, 3}, {1}}},
                       {{32, 40, 4}, {2, 3, 40, 4, 32}, {{0, 2}, {4, 3}, {1}, {2}}},
                       {{5, 20, 6, 48}, {20, 48, 6}, {{3, 2}, {1, 2}, {1}, {0}}}};

std::unique_ptr<ir::Block> product(const Case& c, DType dtype, DType result) {
  op::DotDims dims = c.dims;
  return op::testing::build(
      {Type(dtype, c.left), Type(dtype, c.right)}, [&](op::Builder& b, const op::Values& v) {
        ir::Value* right = dims.lhs_contract.size() == dims.rhs_contract.size()
                               ? v[1]
                               : op::reshape(b, v[1], Shape{c.right[0], c.right[1], 1});
        if (right != v[1]) dims.rhs_contract.push_back(2);
        return op::Values{op::dot_general(b, v[0], right, dims, result)};
      });
}

TEST(BatchFirst, HasTheBitsOfTheProduct) {
  for (const Case& c : kCases)
    for (auto [dtype, result] : {std::pair{DType::f32, DType::f32},
                                 {DType::f64, DType::f64},
                                 {DType::bf16, DType::f32},
                                 {DType::i8, DType::i32}}) {
      SCOPED_TRACE(c.left.to_string() + " " + c.right.to_string() + " " + std::string(name(dtype)));
      auto f = product(c, dtype, result);
      const op::Literals arguments{op::random_literal(Type(dtype, c.left), 1),
                                   op::random_literal(Type(dtype, c.right), 2)};
      const op::Literals before = op::evaluate(*f, arguments);
      EXPECT_TRUE(move_dot_batches_outermost(*f));
      ir::remove_dead(*f);
      const ir::Op& dot = *f->results[0]->op();
      EXPECT_TRUE(is_batch_moved_outermost(dot, 0) != is_batch_moved_outermost(dot, 1));
      EXPECT_TRUE(op::testing::same(op::evaluate(*f, arguments)[0], before[0]));
      EXPECT_FALSE(move_dot_batches_outermost(*f));  // it is enough
    }
}

/// A batch that is last in both, in neither, of few, and of a small operand.
TEST(BatchFirst, OthersStay) {
  for (const Case& c : {Case{{20, 4, 64}, {20, 3, 64}, {{2}, {2}, {0}, {0}}},
                        Case{{64, 4, 20}, {64, 20, 3}, {{0}, {0}, {2}, {1}}},
                        Case{{500, 4, 3}, {3, 500, 3}, {{2}, {0}, {0}, {1}}},
                        Case{{5, 4, 8}, {8, 5, 3}, {{2}, {0}, {0}, {1}}}}) {
    auto f = product(c, DType::f32, DType::f32);
    EXPECT_FALSE(move_dot_batches_outermost(*f));
    EXPECT_FALSE(is_batch_moved_outermost(*f->results[0]->op(), 0));
  }
  EXPECT_FALSE(move_dot_batches_outermost(*product(kCases[0], DType::c64, DType::c64)));
}

/// A transposition that puts a batch last is read through: it is not one of ours.
TEST(BatchFirst, OnlyTranspositionsThatPutTheBatchFirstAreMade) {
  auto f =
      op::testing::build({Type(DType::f32, {64, 20, 4}), Type(DType::f32, {64, 20, 3})},
                         [](op::Builder& b, const op::Values& v) {
                           return op::Values{op::dot_general(b, op::transpose(b, v[0], {1, 2, 0}),
                                                             v[1], {{2}, {0}, {0}, {1}})};
                         });
  EXPECT_FALSE(is_batch_moved_outermost(*f->results[0]->op(), 0));
  EXPECT_FALSE(move_dot_batches_outermost(*f));
}

}  // namespace
}  // namespace strata::pass
