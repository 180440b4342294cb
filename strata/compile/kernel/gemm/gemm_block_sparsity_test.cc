// Steps that are left out have zeros in all rows of a tile, and at all places that go together.
#include "strata/compile/kernel/gemm/gemm_block_sparsity.h"

#include "strata/compile/processor_testing.h"

namespace strata::compile {
namespace {

// One term beside zeros, at each row and at each place of a few steps.
TEST(ProductZeros, OneTermIsEnough) {
  constexpr std::int64_t m = 21, n = 40, k = 64;
  for (bool along : {true, false}) {
    ir::Block f;
    const Type lhs(DType::f32, along ? Shape{m, k} : Shape{k, m});
    ir::Value *x = f.add_argument(lhs), *y = f.add_argument(Type(DType::f32, {k, n})),
              *mask = f.add_argument(lhs.with(DType::i1));
    ir::Builder b(f);
    x = op::select(b, mask, x, op::zeros_like(b, x));
    f.results = {op::dot_general(b, x, y, {{}, {}, {along ? 1 : 0}, {0}})};
    for (const auto& [row, step] :
         {std::pair<std::int64_t, std::int64_t>{0, 31}, {2, 32}, {5, 24}, {20, 0}, {7, 50}}) {
      std::vector<Literal> given = testing::arguments_of(f, 5);
      for (std::int64_t i = 0; i < m * k; ++i) given[2].set_integer(i, 0);
      given[2].set_integer(along ? row * k + step : step * m + row, 1);
      for (const char* processor : {"x86-64-v3", "x86-64-v4"})
        testing::expect_same_bits(
            {testing::run_as_on(processor, f, given)}, op::evaluate(f, given),
            fmt::format("{}, row {}, step {}, along {}", processor, row, step, along));
    }
  }
}

}  // namespace
}  // namespace strata::compile
