// Many products of one row by one column: the bits of the reference evaluator, whichever way the
// operands are.
#include "strata/compile/kernel/dot/batched_vector_dot.h"

#include <algorithm>

#include "strata/compile/fuse/fuse.h"
#include "strata/compile/kernel/gemm/gemm_testing.h"
#include "strata/compile/processor_testing.h"
#include "strata/op/build.h"

namespace strata::compile {
namespace {

using testing::arguments_of;

using Case = testing::GeneralDot;

// Whole groups and the last few; squares, and steps beside them; the second group behind the first;
// operands that run along the batch; several dimensions of both; rows past the caches.
const Case kCases[] = {{{16, 64}, {16, 64}, {{0}, {0}, {1}, {1}}},
                       {{3, 171}, {3, 171}, {{0}, {0}, {1}, {1}}},
                       {{4, 171}, {171, 4}, {{0}, {1}, {1}, {0}}},
                       {{37, 1043}, {37, 1043}, {{0}, {0}, {1}, {1}}},
                       {{70, 7}, {70, 7}, {{0}, {0}, {1}, {1}}},
                       {{8, 2056}, {2056, 8}, {{0}, {1}, {1}, {0}}},
                       {{41, 12}, {41, 12}, {{1}, {1}, {0}, {0}}},
                       {{5, 6, 1, 40}, {6, 5, 40}, {{0, 1}, {1, 0}, {3}, {2}}},
                       {{3, 9, 17, 8}, {3, 17, 8, 9}, {{0, 1}, {0, 3}, {2, 3}, {1, 2}}},
                       {{32773, 65}, {32773, 65}, {{0}, {0}, {1}, {1}}},
                       {{40, 100}, {40, 100}, {{0}, {0}, {1}, {1}}, DType::f64},
                       {{40, 100}, {40, 100}, {{0}, {0}, {1}, {1}}, DType::f16},
                       {{40, 100}, {40, 100}, {{0}, {0}, {1}, {1}}, DType::i8},
                       {{40, 100}, {40, 100}, {{0}, {0}, {1}, {1}}, DType::i32}};

std::unique_ptr<ir::Block> product(const Case& c) {
  auto f = std::make_unique<ir::Block>();
  ir::Builder b(*f);
  f->results = {op::neg(b, c.add_to(*f, b))};
  return f;
}

TEST(RowDots, HaveTheReferencesBitsOnEachKindOfProcessor) {
  for (const Case& c : kCases)
    for (const char* processor : {"x86-64-v3", "x86-64-v4"}) {
      SCOPED_TRACE(c.lhs.to_string() + " " + std::string(name(c.dtype)) + " " + processor);
      auto block = product(c);
      const Plan plan = make_plan(*prepare(*block), {}, CpuTarget::named(processor));
      EXPECT_TRUE(std::any_of(plan.kernels.begin(), plan.kernels.end(),
                              [](const auto& k) { return k->name == "batched_vector_dot"; }));
      const std::vector<Literal> given = arguments_of(*block, 3);
      testing::expect_same_bits({testing::run_as_on(processor, *block, given)},
                                op::evaluate(*block, given), processor);
    }
}

// A long sum that reads one side across has it turned by a kernel of its own, once for its pieces
// and the rest.
TEST(RowDots, TurnsASideThatALongSumReadsAcross) {
  auto turned = [](const ir::Block& block) {
    const auto prepared = prepare(block);
    const Fusion fusion = fuse(*prepared);
    return std::count_if(fusion.groups.begin(), fusion.groups.end(), [](const Group& g) {
      return g.roots.front()->name() == "stablehlo.transpose";
    });
  };
  for (const Case& c : {Case{{300, 290}, {290, 300}, {{}, {}, {0, 1}, {1, 0}}},
                        Case{{290, 300}, {300, 290}, {{}, {}, {1, 0}, {0, 1}}},
                        Case{{2, 300, 290}, {290, 300, 2}, {{0}, {2}, {1, 2}, {1, 0}}}}) {
    auto block = product(c);
    EXPECT_EQ(turned(*block), 1) << c.lhs.to_string();
    testing::expect_compiled_equals_reference(*block, 3, false);
  }
}

// Pairs where the sum has an even number of terms and an odd one.
TEST(RowDots, HaveThemOfPairs) {
  for (std::int64_t k : {8, 40, 41, 2500}) {
    SCOPED_TRACE(k);
    auto block = product({{19, k}, {19, k}, {{0}, {0}, {1}, {1}}, DType::bf16});
    const std::vector<Literal> given = arguments_of(*block, 3);
    testing::expect_same_bits({testing::run_as_on("x86-64-v4,+avx512bf16", *block, given)},
                              op::evaluate(*block, given), "pairs");
  }
}

}  // namespace
}  // namespace strata::compile
