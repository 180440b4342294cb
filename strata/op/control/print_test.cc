// interpreter.print, by several processes.
#include <gtest/gtest.h>

#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

TEST(Print, processes_print_one_after_the_other) {
  auto module = ir::parse(R"(
func.func @f() {
  %0 = stablehlo.iota dim = 0 : tensor<2xi32>
  interpreter.print %0 : tensor<2xi32>
  return
}
func.func @main() {
  "interpreter.run_parallel"() {programs = [[@f, @f]]} : () -> ()
  return
})");
  ASSERT_TRUE(module.ok()) << module.status().message();
  ir::inline_calls(**module);
  World world;
  std::string printed;
  world.print = [&](const std::string& text) { printed += text; };
  evaluate((*module)->entry()->body, {}, world);
  std::string one = "%0 = tensor<2xi32> {\n  [0, 1]\n}\n";
  EXPECT_EQ(printed, one + one);
}

}  // namespace
}  // namespace strata::op
