// A row by a matrix that lies along the sum: eight columns and sixteen, whole lines of steps and
// those behind them, and sums so long that the second eight columns are behind the first.
#include "strata/compile/turned_columns.h"

#include "strata/compile/processor_testing.h"
#include "strata/compile/product_testing.h"

namespace strata::compile {
namespace {

TEST(TurnedColumns, AddAllSteps) {
  for (const auto& [processor, product] :
       {std::pair<const char*, testing::Product>{"x86-64-v3", {1, 8, 96, true, true}},
        {"x86-64-v3", {1, 19, 101, true, true}},
        {"x86-64-v4", {1, 35, 101, true, true}},
        {"x86-64-v3", {1, 64, 1029, true, true}},
        {"x86-64-v4", {1, 64, 1029, true, true}}}) {
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
