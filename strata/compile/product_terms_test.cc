// Terms of products of short numbers, several to a register.
#include "strata/compile/product_terms.h"

#include "strata/compile/processor_testing.h"
#include "strata/compile/product_testing.h"

namespace strata::compile {
namespace {

TEST(ProductTerms, EachStandsOnce) {
  for (const auto& [processor, product] :
       {std::pair<const char*, testing::Product>{"x86-64-v3", {9, 24, 10, true, false, DType::i16}},
        {"x86-64-v3", {9, 24, 11, false, true, DType::i8}},
        {"x86-64-v4", {9, 24, 10, true, false, DType::i16}},
        {"x86-64-v4,+avx512vnni", {9, 24, 12, true, false, DType::i8}},
        {"x86-64-v4,+avx512bf16", {9, 24, 10, true, false, DType::bf16}}}) {
    SCOPED_TRACE(processor + (": " + product.text()));
    ir::Block block;
    ir::Builder b(block);
    block.results = {product.add_to(block, b)};
    const std::vector<Literal> given = testing::arguments_of(block, 3);
    testing::expect_same_bits({testing::run_as_on(processor, block, given)},
                              op::evaluate(block, given), processor);
  }
}

}  // namespace
}  // namespace strata::compile
