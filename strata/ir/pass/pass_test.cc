#include "strata/ir/pass/pass.h"

#include <gtest/gtest.h>

#include "strata/ir/testing/test_ops.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"

namespace strata::ir {
namespace {

std::string after(const char* pass, const std::string& text) {
  testing::register_test_ops();
  auto m = parse(text, "p.mlir");
  if (!m.ok()) return m.status().message();
  Passes::global().find(pass)->run(**m);
  EXPECT_TRUE(verify(**m).ok()) << verify(**m).message();
  return print(**m);
}

constexpr char kCalls[] = R"(module {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @twice(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = call @twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @twice(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @add(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @add(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
)";

TEST(InlineCalls, CallsOfCalls) {
  EXPECT_EQ(after("inline-calls", kCalls), R"(module {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    %1 = stablehlo.add %0, %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
)");
}

TEST(InlineCalls, InsideLoopsAndOfTheirResults) {
  std::string text = R"(module {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<i1>) -> tensor<i1> {
    %0 = call @same(%arg1) : (tensor<i1>) -> tensor<i1>
    %1 = stablehlo.while(%iterArg = %arg0) : tensor<i1>
    cond {
      stablehlo.return %iterArg : tensor<i1>
    } do {
      %2 = func.call @same(%0) : (tensor<i1>) -> tensor<i1>
      %3 = stablehlo.add %2, %0 : tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }
    return %1 : tensor<i1>
  }
  func.func private @same(%arg0: tensor<i1>) -> tensor<i1> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<i1>
    return %0 : tensor<i1>
  }
}
)";
  EXPECT_EQ(after("inline-calls", text), R"(module {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<i1>) -> tensor<i1> {
    %0 = stablehlo.add %arg1, %arg1 : tensor<i1>
    %1 = stablehlo.while(%iterArg = %arg0) : tensor<i1>
    cond {
      stablehlo.return %iterArg : tensor<i1>
    } do {
      %2 = stablehlo.add %0, %0 : tensor<i1>
      %3 = stablehlo.add %2, %0 : tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }
    return %1 : tensor<i1>
  }
}
)");
}

/// 2^60 copies would follow from sixty lines.
TEST(InlineCalls, DoublingIsRefused) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += fmt::format(
        "func.func @f{0}() {{\n  call @f{1}() : () -> ()\n  call @f{1}() : () -> ()\n  "
        "return\n}}\n",
        i, i + 1);
  text += "func.func @f60() {\n  \"test.effect\"() : () -> ()\n  return\n}\n";
  testing::register_test_ops();
  auto m = parse(text);
  ASSERT_TRUE(m.ok()) << m.status().message();
  EXPECT_THROW(inline_calls(**m), Error);
}

TEST(Dce, KeepsEffects) {
  EXPECT_EQ(
      after(
          "dce",
          "func.func @main(%x: tensor<f32>) {\n  %0 = stablehlo.add %x, %x : tensor<f32>\n  "
          "\"test.effect\"() : () -> ()\n  return\n}\nfunc.func private @unused() {\n  return\n}"),
      "module {\n  func.func @main(%arg0: tensor<f32>) {\n    \"test.effect\"() : () -> ()\n    "
      "return\n  }\n}\n");
}

TEST(Cse, MergesEqualOperationsAcrossRegions) {
  std::string text = R"(func.func @main(%x: tensor<i1>) -> (tensor<i1>, tensor<i1>) {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.constant dense<true> : tensor<i1>
  %2 = stablehlo.constant dense<false> : tensor<i1>
  %3 = stablehlo.add %x, %0 : tensor<i1>
  %4 = stablehlo.while(%a = %x) : tensor<i1> cond {
    stablehlo.return %a : tensor<i1>
  } do {
    %6 = stablehlo.add %x, %1 : tensor<i1>
    %7 = stablehlo.add %6, %2 : tensor<i1>
    stablehlo.return %7 : tensor<i1>
  }
  %5 = stablehlo.add %x, %1 : tensor<i1>
  return %4, %5 : tensor<i1>, tensor<i1>
})";
  EXPECT_EQ(after("cse", text), R"(module {
  func.func @main(%arg0: tensor<i1>) -> (tensor<i1>, tensor<i1>) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %0 = stablehlo.add %arg0, %c : tensor<i1>
    %1 = stablehlo.while(%iterArg = %arg0) : tensor<i1>
    cond {
      stablehlo.return %iterArg : tensor<i1>
    } do {
      %2 = stablehlo.add %0, %c_0 : tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }
    return %1, %0 : tensor<i1>, tensor<i1>
  }
}
)");
}

TEST(Cse, WhatHasAnEffectStays) {
  std::string text =
      "module {\n  func.func @f() {\n    \"test.effect\"() : () -> ()\n    \"test.effect\"() : () "
      "-> ()\n    return\n  }\n}\n";
  EXPECT_EQ(after("cse", text), text);
}

}  // namespace
}  // namespace strata::ir
