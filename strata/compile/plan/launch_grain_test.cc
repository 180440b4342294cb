// Points of a few elements are claimed many together, large ones one by one.
#include "strata/compile/plan/launch_grain.h"

#include "strata/compile/compile_testing.h"
#include "strata/op/build.h"

namespace strata::compile {
namespace {

TEST(LaunchGrain, LeavesClaimsOfAMicrosecondAndManyOfThem) {
  EXPECT_EQ(grain_of(0, 0), 1);
  EXPECT_EQ(grain_of(100, 1), 1) << "too few to claim together";
  EXPECT_EQ(grain_of(128, 1), 2);
  for (std::int64_t points : {200, 4096, 8191, 1 << 20})
    for (double lanes : {0.0, 1e3, 1e6, 1e9, 1e12}) {
      const std::int64_t grain = grain_of(points, lanes);
      EXPECT_GE(grain, 1);
      EXPECT_GE(points / grain, 64);
      EXPECT_LE(lanes * static_cast<double>(grain - 1) / static_cast<double>(points), 5e4);
    }
  EXPECT_EQ(grain_of(8192, 8192 * 1e6), 1);
}

/// Sums of 2 x 40 elements each, which are a point each.
TEST(LaunchGrain, IsThatOfTheWorkOfEachPoint) {
  ir::Block f;
  ir::Builder b(f);
  ir::Value* x = f.add_argument(Type(DType::f32, {4096, 2, 40}));
  f.results = {op::reduce_sum(b, x, {1})};
  const Plan plan = make_plan(*prepare(f), {}, testing::v3());
  const Launch& launch = std::get<Launch>(plan.steps.at(0).what);
  const std::int64_t points = plan.kernels.at(static_cast<std::size_t>(launch.kernel))->grid;
  EXPECT_TRUE(launch.parallel);
  ASSERT_GE(points, 128);
  EXPECT_GT(launch.grain, 1);
  EXPECT_GE(points / launch.grain, 64);
  testing::expect_compiled_equals_reference(f);
}

}  // namespace
}  // namespace strata::compile
