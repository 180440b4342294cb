// Reductions by regions whose order shows in the result.
#include "strata/compile/kernel/reduce/reduce_region.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

/// Digits of base 3, of [`outer`, `reduced`, `inner`] over the second dimension.
void digits(ir::Block& block, std::int64_t outer, std::int64_t reduced, std::int64_t inner) {
  const Type scalar = Type::scalar(DType::i32);
  auto region = std::make_unique<ir::Block>();
  ir::Value *sum = region->add_argument(scalar), *digit = region->add_argument(scalar);
  ir::Builder in(*region), b(block);
  region->results = {op::add(in, op::mul(in, sum, op::scalar(in, DType::i32, 3)), digit)};
  ir::Value *x = block.add_argument(Type(DType::i32, {outer, reduced, inner})),
            *zero = block.add_argument(scalar);
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(std::move(region));
  block.results = b.create("stablehlo.reduce", {x, zero},
                           {{"dimensions", ir::Ints{1}}, {"combiner", std::string("region")}},
                           std::move(regions))
                      .results();
}

TEST(ReduceRegion, GoesFromTheFirstElementToTheLast) {
  for (const auto& [outer, reduced, inner] :
       {std::array<std::int64_t, 3>{500, 6, 1}, {500, 40, 1}, {3, 6, 400}, {3, 40, 400}}) {
    SCOPED_TRACE(fmt::format("{} x {} x {}", outer, reduced, inner));
    ir::Block block;
    digits(block, outer, reduced, inner);
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
