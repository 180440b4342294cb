#include <gtest/gtest.h>

#include <cmath>

#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/verify.h"
#include "strata/op/catalog.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

/// A program of one composite of `x`, whose decomposition is the negation: so it shows which of the
/// two is computed.
std::unique_ptr<ir::Module> composite(const std::string& name, const std::string& attributes,
                                      const std::string& function,
                                      const std::string& dtype = "f32") {
  catalog();
  const std::string type = "tensor<4x" + dtype + ">";
  const std::string text =
      "module { func.func @main(%x: " + type + ") -> " + type + " { %0 = stablehlo.composite \"" +
      name + "\" %x {" + attributes + "decomposition = @" + function + "} : (" + type + ") -> " +
      type + " return %0 : " + type + " } func.func private @" + function + "(%x: " + type +
      ") -> " + type + " { %0 = stablehlo.negate %x : " + type + " return %0 : " + type + " } }";
  auto module = ir::read(text, "composite");
  EXPECT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(ir::verify(**module).ok());
  ir::use_chlo(**module);
  return std::move(*module);
}

std::string only_operation(const ir::Module& module) {
  return module.entry()->body.ops().at(0)->name();
}

TEST(UseChlo, TheOperationStandsForTheComposite) {
  auto module = composite("chlo.erf", "", "chlo.erf.impl");
  EXPECT_EQ(only_operation(*module), "chlo.erf");
  ir::inline_calls(*module);
  EXPECT_EQ(module->functions.size(), 1u) << "the decomposition is not needed";
  const Literal x = Literal::of<float>({4}, {0, 0.5f, -1, 2});
  const Literals y = evaluate(module->entry()->body, {&x, 1});
  EXPECT_NEAR(y[0].number(1), std::erf(0.5), 1e-7);
}

TEST(UseChlo, OneOfSeveralDecompositions) {
  EXPECT_EQ(only_operation(*composite("chlo.erf", "", "chlo.erf.impl_0")), "chlo.erf");
}

TEST(UseChlo, OperationsOfStableHloToo) {
  EXPECT_EQ(only_operation(*composite("stablehlo.log_plus_one", "", "stablehlo.log_plus_one.impl")),
            "stablehlo.log_plus_one");
}

TEST(UseChlo, WhatIsNotItsOwnStays) {
  EXPECT_EQ(only_operation(*composite("chlo.erf", "", "mine")), "stablehlo.composite")
      << "somebody's own decomposition";
  EXPECT_EQ(only_operation(*composite("mine.erf", "", "mine.erf.impl")), "stablehlo.composite")
      << "somebody's own operation";
  EXPECT_EQ(only_operation(*composite("chlo.unheard_of", "", "chlo.unheard_of.impl")),
            "stablehlo.composite");
  EXPECT_EQ(only_operation(*composite("chlo.erf", "", "chlo.erf.impl", "i32")),
            "stablehlo.composite")
      << "types that the operation does not take";
  EXPECT_EQ(only_operation(*composite("chlo.top_k", "composite_attributes = {k = 2 : i64}, ",
                                      "chlo.top_k.impl")),
            "stablehlo.composite")
      << "other results than the operation's";
}

TEST(UseChlo, TheLeastElementsAreNotTheGreatest) {
  catalog();
  const char* text = R"(module {
    func.func @main(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
      %0:2 = stablehlo.composite "chlo.top_k" %x {composite_attributes = {k = 2 : i64, largest = false}, decomposition = @chlo.top_k.impl} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
      return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
    }
    func.func private @chlo.top_k.impl(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
      %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
      %1 = stablehlo.constant dense<3> : tensor<2xi32>
      return %0, %1 : tensor<2xf32>, tensor<2xi32>
    }
  })";
  auto module = ir::read(text, "top_k");
  ASSERT_TRUE(module.ok()) << module.status().message();
  ir::use_chlo(**module);
  EXPECT_EQ(only_operation(**module), "stablehlo.composite");
}

}  // namespace
}  // namespace strata::op
