// Terms of products of short numbers, several to a register.
#include "strata/compile/kernel/gemm/gemm_terms.h"

#include "strata/compile/kernel/gemm/gemm_testing.h"

namespace strata::compile {
namespace {

TEST(GemmTerms, EachStandsOnce) {
  for (const auto& [processor, product] :
       {std::pair<const char*, testing::Product>{"x86-64-v3", {9, 24, 10, true, false, DType::i16}},
        {"x86-64-v3", {9, 24, 11, false, true, DType::i8}},
        {"x86-64-v4", {9, 24, 10, true, false, DType::i16}},
        {"x86-64-v4,+avx512vnni", {9, 24, 12, true, false, DType::i8}},
        {"x86-64-v4,+avx512bf16", {9, 24, 10, true, false, DType::bf16}}})
    testing::expect_references_bits(processor, product);
}

}  // namespace
}  // namespace strata::compile
