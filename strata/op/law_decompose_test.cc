// Decompositions say what they stand for: on every sample, the same bits as the operation itself.
#include "strata/base/error.h"
#include "strata/op/law_support.h"
#include "strata/op/legalize.h"

namespace strata::op::laws {
namespace {

/// Null where it depends on values that only a running program has (a dynamic operation's sizes).
std::unique_ptr<Block> decomposition_or_null(const Op& op) {
  try {
    return decomposition(op);
  } catch (const Error& e) {
    if (e.is_unsupported()) return nullptr;
    throw;
  }
}

TEST_P(Law, decomposition_is_reference) {
  if (def().decompose == nullptr) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    if (!only_arrays(f->body)) continue;
    auto block = decomposition_or_null(*f->body.ops().back());
    if (block == nullptr) continue;
    Literals want = evaluate(f->body, sample.operands), got = evaluate(*block, sample.operands);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(got[i], want[i]), "") << "result " << i;
  }
}

}  // namespace
}  // namespace strata::op::laws
