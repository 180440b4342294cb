// Rows that come from memory one after the other: the bits of the reference evaluator, in whole
// tiles and beside them.
#include "strata/compile/kernel/gemm/gemm_row_staging.h"

#include <algorithm>

#include "strata/compile/fuse/fusion.h"
#include "strata/compile/kernel/gemm/gemm_testing.h"
#include "strata/compile/processor_testing.h"

namespace strata::compile {
namespace {

using testing::arguments_of;

struct Case : testing::GeneralDot {
  bool brings = true;
};

// Matrices by vectors, in a batch and alone, whole squares and not; products of rows; a long row, a
// short one, and a small array, which stay where they are.
const Case kCases[] = {{{{32773, 65}, {65}, {{}, {}, {1}, {0}}}},
                       {{{3, 4099, 181}, {3, 181}, {{0}, {0}, {2}, {1}}}},
                       {{{262151, 9}, {262151, 9}, {{0}, {0}, {1}, {1}}}, false},
                       {{{32773, 65}, {32773, 65}, {{0}, {0}, {1}, {1}}}},
                       {{{2053, 1031}, {1031}, {{}, {}, {1}, {0}}}, false},
                       {{{800, 100}, {100}, {{}, {}, {1}, {0}}}, false}};

TEST(ProductRows, HaveTheReferencesBitsOnEachKindOfProcessor) {
  for (const Case& c : kCases) {
    ir::Block block;
    ir::Builder b(block);
    block.results = {c.add_to(block, b)};
    const std::vector<Literal> given = arguments_of(block, 3),
                               expected = op::evaluate(block, given);
    for (const char* processor : {"x86-64-v3", "x86-64-v4"}) {
      SCOPED_TRACE(c.lhs.to_string() + " " + processor);
      const Plan plan = make_plan(*prepare(block), {}, CpuTarget::named(processor));
      const bool brings = std::any_of(plan.kernels.begin(), plan.kernels.end(), [](const auto& k) {
        return std::any_of(k->refs.begin(), k->refs.end(), [](const auto& r) {
          return r->mode == loop::Ref::Mode::scratch && r->size > 128;
        });
      });
      EXPECT_EQ(brings, c.brings);
      testing::expect_same_bits({testing::run_as_on(processor, block, given)}, expected, processor);
    }
  }
}

}  // namespace
}  // namespace strata::compile
