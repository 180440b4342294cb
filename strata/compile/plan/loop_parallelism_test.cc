// Launches of a few microseconds: on several threads inside a loop, on the caller elsewhere, with
// the reference's bits.
#include "strata/compile/plan/loop_parallelism.h"

#include "strata/compile/compile_testing.h"
#include "strata/ir/text/parser.h"

namespace strata::compile {
namespace {

/// tanh(x w + x) for x of n x n, `turns` times.
std::string program(int n, int turns) {
  const std::string t = fmt::format("tensor<{0}x{0}xf32>", n);
  return fmt::format(R"(func.func @main(%w: {0}, %x: {0}) -> {0} {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %m = %x) : tensor<i32>, {0}
  cond {{
    %n = stablehlo.constant dense<{1}> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %p = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : ({0}, {0}) -> {0}
    %s = stablehlo.add %p, %m : {0}
    %t = stablehlo.tanh %s : {0}
    %i2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %i2, %t : tensor<i32>, {0}
  }}
  return %r#1 : {0}
}})",
                     t, turns);
}

void each_launch(const Steps& steps, const std::function<void(const Launch&)>& f) {
  for (const Step& step : steps) {
    if (const auto* launch = std::get_if<Launch>(&step.what)) f(*launch);
    if (const auto* counted = std::get_if<CountedLoop>(&step.what)) each_launch(counted->body, f);
    if (const auto* loop = std::get_if<WhileLoop>(&step.what)) each_launch(loop->body, f);
  }
}

struct Launches {
  int all = 0, brief = 0;
};
Launches launches(const std::string& text) {
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  Plan plan = make_plan(*prepare((*module)->entry()->body), {}, testing::v3());
  Launches out;
  each_launch(plan.steps, [&](const Launch& l) {
    ++out.all;
    out.brief += l.brief;
    EXPECT_TRUE(l.parallel || !l.brief);
  });
  return out;
}

TEST(LoopThreads, LaunchesOfAFewMicrosecondsInALoopAreBriefCalls) {
  EXPECT_GE(launches(program(40, 5)).brief, 1);
  EXPECT_EQ(launches(program(8, 5)).brief, 0);
  EXPECT_EQ(launches(program(64, 5)).brief, 0)
      << "its one launch has work for two threads anywhere";
}

TEST(LoopThreads, ElsewhereTheyRunOnTheCaller) {
  const Launches alone = launches(
      R"(func.func @main(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = stablehlo.tanh %p : tensor<64x64xf32>
  return %t : tensor<64x64xf32>
})");
  EXPECT_GE(alone.all, 1);
  EXPECT_EQ(alone.brief, 0);
}

TEST(LoopThreads, OfTheReferencesBits) {
  auto module = ir::parse(program(40, 4));
  ASSERT_TRUE(module.ok()) << module.status().message();
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    testing::expect_compiled_equals_reference((*module)->entry()->body, 1);
  }
  set_num_threads(0);
}

}  // namespace
}  // namespace strata::compile
