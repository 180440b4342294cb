// Reductions in two phases: each result is made of its own chunks and the initial value.
#include "strata/compile/kernel/reduce/reductions.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

TEST(Reductions, ChunksAreThoseOfTheirRowBesideTheInitialValue) {
  for (const Shape& shape : {Shape{3, 100000, 1}, Shape{2, 20000, 40}}) {
    ir::Block block;
    ir::Value* x = block.add_argument(Type(DType::f32, shape));
    ir::Builder b(block);
    ir::Value* initial = block.add_argument(Type::scalar(DType::f32));
    block.results = {op::reduce(b, x, initial, {1}, op::Combiner::add)};
    const auto kernels = make_plan(*prepare(block), {}, testing::v3()).kernels;
    EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [](const auto& k) {
      return k->name == "reduce_chunks";
    })) << shape.to_string();
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
