// Products whose batch runs along memory: the bits of the reference evaluator.
#include "strata/compile/kernel/dot/batch_vectorized_dot.h"

#include "strata/compile/processor_testing.h"
#include "strata/op/build.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

struct Case {
  Shape lhs, rhs;
  op::DotDims dims;
};

// Rows, columns and neither; several dimensions of the sum in another order; a batch before and
// behind the one that runs along memory, in the result's order; vectors that fill strips and not.
const Case kCases[] = {{{7, 40}, {7, 40}, {{1}, {1}, {0}, {0}}},
                       {{100, 300}, {100, 300}, {{1}, {1}, {0}, {0}}},
                       {{8, 5, 33}, {8, 33}, {{2}, {1}, {0}, {0}}},
                       {{6, 9, 16}, {6, 7, 16}, {{2}, {2}, {0}, {0}}},
                       {{5, 2, 3, 47}, {3, 5, 11, 47}, {{3}, {3}, {0, 2}, {1, 0}}},
                       {{3, 4, 6, 70}, {6, 3, 2, 70}, {{0, 3}, {1, 3}, {2}, {0}}},
                       {{3, 4, 6, 70}, {6, 3, 2, 70}, {{3, 0}, {3, 1}, {2}, {0}}},
                       {{4, 19}, {3, 19}, {{1}, {1}, {}, {}}},
                       {{64, 1000}, {1000}, {{1}, {0}, {}, {}}}};

std::unique_ptr<Block> product(const Case& c, DType dtype, DType result) {
  auto f = std::make_unique<Block>();
  Builder b(*f);
  Value *l = f->add_argument(Type(dtype, c.lhs)), *r = f->add_argument(Type(dtype, c.rhs));
  f->results = {op::dot_general(b, l, r, c.dims, result)};
  return f;
}

TEST(BatchLanes, HaveTheReferencesBits) {
  for (const Case& c : kCases)
    for (auto [dtype, result] : {std::pair{DType::f32, DType::f32},
                                 {DType::f64, DType::f64},
                                 {DType::bf16, DType::bf16},
                                 {DType::f16, DType::f16},
                                 {DType::i8, DType::i32}}) {
      SCOPED_TRACE(c.lhs.to_string() + " " + c.rhs.to_string() + " " + std::string(name(dtype)));
      auto block = product(c, dtype, result);
      EXPECT_TRUE(is_batch_vectorized_dot(*block->ops()[0]));
      testing::expect_compiled_equals_reference(*block, 5);
    }
}

// A result a lane of arrays that are in memory: sums wait while long pieces are read. Terms in
// whole groups and not, an odd one, pairs of terms, strips and a shorter one, a batch before.
TEST(BatchLanes, SumsThatWaitHaveTheReferencesBits) {
  for (const Case& c : {Case{{531, 1100}, {531, 1100}, {{1}, {1}, {0}, {0}}},
                        Case{{6, 64, 1536}, {6, 64, 1536}, {{0, 2}, {0, 2}, {1}, {1}}}})
    for (auto [dtype, result] :
         {std::pair{DType::f32, DType::f32}, {DType::bf16, DType::bf16}, {DType::i8, DType::i32}}) {
      SCOPED_TRACE(c.lhs.to_string() + " " + std::string(name(dtype)));
      auto block = product(c, dtype, result);
      testing::expect_compiled_equals_reference(*block, 5);
      const std::vector<Literal> given = testing::arguments_of(*block, 6);
      if (dtype == DType::bf16)
        testing::expect_same_bits({testing::run_as_on("x86-64-v4,+avx512bf16", *block, given)},
                                  op::evaluate(*block, given), "pairs");
    }
}

// What stands behind: the batch put last again, or among the others, and an epilogue that reads an
// array beside.
TEST(BatchLanes, LandWhereTheResultIsRead) {
  for (const ir::Ints& order : {ir::Ints{1, 2, 0}, ir::Ints{2, 0, 1}, ir::Ints{1, 0, 2}}) {
    auto f = product({{6, 9, 33}, {6, 7, 33}, {{2}, {2}, {0}, {0}}}, DType::f32, DType::f32);
    Builder b(*f);
    Value* moved = op::transpose(b, f->results[0], order);
    f->results = {op::tanh(b, op::add(b, moved, f->add_argument(moved->type())))};
    testing::expect_compiled_equals_reference(*f, 5);
  }
}

TEST(BatchLanes, OthersStayAsTheyAre) {
  for (const Case& c :
       {Case{{7, 8}, {7, 8}, {{1}, {1}, {0}, {0}}}, Case{{40, 7}, {40, 7}, {{0}, {0}, {1}, {1}}},
        Case{{40, 7}, {7, 40}, {{0}, {1}, {1}, {0}}},
        Case{{500, 40, 64}, {500, 40, 64}, {{2}, {2}, {0}, {0}}}})
    EXPECT_FALSE(is_batch_vectorized_dot(*product(c, DType::f32, DType::f32)->ops()[0]));
}

}  // namespace
}  // namespace strata::compile
