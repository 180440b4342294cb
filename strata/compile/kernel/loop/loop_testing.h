// Programs with a loop that counts, as text. For tests.
#pragma once

#include <algorithm>

#include "strata/compile/compile_testing.h"
#include "strata/ir/text/parser.h"

namespace strata::compile::testing {

/// The program compiled gives what the reference evaluator gives.
inline void expect_same(const std::string& text) {
  auto module = ir::parse(text);
  ASSERT_TRUE(module.ok()) << module.status().message() << "\n" << text;
  for (unsigned seed : {1u, 2u}) expect_compiled_equals_reference((*module)->entry()->body, seed);
}

/// %r, a loop of so many iterations: %i counts from %z, `carries` (%m = %a0, ...) of these types
/// become `next`, made by the body.
inline std::string counted(int turns, const std::string& carries, const std::string& types,
                           const std::string& body, const std::string& next) {
  const std::string all = " : tensor<i32>, " + types + "\n";
  return "  %z = stablehlo.constant dense<0> : tensor<i32>\n  %r:" +
         std::to_string(1 + std::count(carries.begin(), carries.end(), '=')) +
         " = stablehlo.while(%i = %z, " + carries + ")" + all + R"(
  cond {
    %n = stablehlo.constant dense<)" +
         std::to_string(turns) + R"(> : tensor<i32>
    %goes = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>)" +
         body + "    %i2 = stablehlo.add %i, %one : tensor<i32>\n    stablehlo.return %i2, " +
         next + all + "  }\n";
}

}  // namespace strata::compile::testing
