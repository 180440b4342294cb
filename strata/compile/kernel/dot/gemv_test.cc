// A row by a matrix that runs along the sum: eight columns and sixteen, whole lines of steps and
// those behind them, and sums so long that the second eight columns are behind the first.
#include "strata/compile/kernel/dot/gemv.h"

#include "strata/compile/kernel/gemm/gemm_testing.h"

namespace strata::compile {
namespace {

TEST(GemvColumns, AddAllSteps) {
  for (const auto& [processor, product] :
       {std::pair<const char*, testing::Product>{"x86-64-v3", {1, 8, 96, true, true}},
        {"x86-64-v3", {1, 19, 101, true, true}},
        {"x86-64-v4", {1, 35, 101, true, true}},
        {"x86-64-v3", {1, 64, 1029, true, true}},
        {"x86-64-v4", {1, 64, 1029, true, true}}})
    testing::expect_references_bits(processor, product);
}

}  // namespace
}  // namespace strata::compile
