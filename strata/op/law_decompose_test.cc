// Decompositions say what they stand for: on every sample, the same bits as the operation itself.
#include "strata/op/law_support.h"
#include "strata/op/legalize.h"
#include "strata/op/shape/refine.h"

namespace strata::op::laws {
namespace {

TEST_P(Law, decomposition_is_reference) {
  if (def().decompose == nullptr) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    if (!only_arrays(f->body)) continue;
    const Op& op = *f->body.ops().back();
    if (needs_values(op)) continue;
    auto block = decomposition(op);
    Literals want = evaluate(f->body, sample.operands), got = evaluate(*block, sample.operands);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(difference(got[i], want[i]), "") << "result " << i;
  }
}

}  // namespace
}  // namespace strata::op::laws
