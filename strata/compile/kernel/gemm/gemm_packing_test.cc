// Sides of products that are laid out: steps behind whole squares, odd pairs, and several parts.
#include "strata/compile/kernel/gemm/gemm_packing.h"

#include "strata/compile/kernel/gemm/gemm_testing.h"

namespace strata::compile {
namespace {

TEST(ProductLayout, HoldsAllSteps) {
  for (const auto& [processor, product] :
       {std::pair<const char*, testing::Product>{"x86-64-v3", {70, 40, 21, true, true}},
        {"x86-64-v4", {70, 40, 21, true, true}},
        {"x86-64-v4,+avx512bf16", {21, 40, 33, true, false, DType::bf16}},
        {"x86-64-v4,+avx512bf16", {21, 40, 33, false, true, DType::bf16}},
        {"x86-64-v3", {140, 36, 2230, false, true}},
        {"x86-64-v4", {140, 36, 2230, false, true}}})
    testing::expect_references_bits(processor, product);
}

}  // namespace
}  // namespace strata::compile
