// Reductions of truth values as machine code, which combines them as numbers: the reference's bits.
#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using op::Combiner;

/// Over dimension `d`, from an initial value, of an array or of what a comparison gives, in which `one_of` tells how many elements are true.
void expect_reference(const Shape& shape, int d, Combiner combiner, std::int64_t one_of, bool computed) {
  SCOPED_TRACE(::testing::Message() << static_cast<int>(combiner) << " of " << Type(DType::i1, shape).to_string() << " over " << d << ", one of " << one_of);
  auto block = std::make_unique<ir::Block>();
  const Type x(computed ? DType::f32 : DType::i1, shape);
  ir::Value *v = block->add_argument(x), *init = block->add_argument(Type::scalar(DType::i1));
  ir::Builder b(*block);
  if (computed) v = op::compare(b, v, op::broadcast_in_dim(b, op::scalar(b, DType::f32, 0.5), shape, {}), "GT");
  block->results = {op::reduce(b, v, init, {d}, combiner)};
  Literal values(x);
  for (std::int64_t i = 0; i < values.count(); ++i) values.set_number(i, i * 7 % one_of == 0);
  for (bool from : {false, true}) {
    const std::vector<Literal> arguments{values, Literal::scalar(from)};
    const std::vector<Literal> want = op::evaluate(*block, arguments), got = testing::run_compiled(*block, arguments);
    EXPECT_TRUE(got[0].same_bits(want[0])) << "from " << from;
  }
}

TEST(ReducedTruth, ByEveryCombiner) {
  for (Combiner combiner : {Combiner::and_, Combiner::or_, Combiner::xor_, Combiner::min, Combiner::max, Combiner::add, Combiner::mul})
    for (auto& [shape, d] : {std::pair{Shape{3, 7}, 1}, {Shape{5, 100}, 1}, {Shape{2, 9001}, 1}, {Shape{40, 9}, 0}, {Shape{700, 33}, 0}, {Shape{3, 20, 5}, 1}})
      for (std::int64_t one_of : {1, 2, 1000000})
        for (bool computed : {false, true}) expect_reference(shape, d, combiner, one_of, computed);
}

}  // namespace
}  // namespace strata::compile
