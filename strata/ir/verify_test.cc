#include "strata/ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/ir/testing/test_ops.h"
#include "strata/ir/text/parser.h"

namespace strata::ir {
namespace {

using ::testing::HasSubstr;

std::string mistake(const std::string& text) {
  testing::register_test_ops();
  auto m = parse(text, "p.mlir");
  if (!m.ok()) return "parse: " + m.status().message();
  Status s = verify(**m);
  return s.ok() ? "none" : s.message();
}

TEST(Verify, ResultTypesAreInferredAgain) {
  EXPECT_EQ(mistake(R"(func.func @f(%x: tensor<2xf32>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
})"),
            "p.mlir:2:8: stablehlo.add: result 0 is tensor<3xf32>, but tensor<2xf32> is inferred");
}

TEST(Verify, RefinementIsAllowed) {
  EXPECT_EQ(mistake("func.func @f(%x: tensor<?xf32>) {\n  %0 = \"stablehlo.add\"(%x, %x) : "
                    "(tensor<?xf32>, tensor<?xf32>) -> tensor<3xf32>\n  return\n}"),
            "none");
  Type bounded(DType::f32, Shape(std::vector<Dim>{Dim::bounded(4)}));
  EXPECT_TRUE(may_be_same(bounded, Type(DType::f32, {4})));
  EXPECT_FALSE(may_be_same(bounded, Type(DType::f32, {5})));
  EXPECT_FALSE(may_be_same(Type(DType::f32, {4}), Type(DType::f16, {4})));
}

TEST(Verify, ConstraintsOfOperations) {
  EXPECT_EQ(mistake("func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) {\n  %0 = stablehlo.add "
                    "%x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>\n  return\n}"),
            "p.mlir:2:8: test: operands differ: tensor<2xf32> and tensor<3xf32>");
}

TEST(Verify, AttributesOfAnotherKindAreTheProgramsMistake) {
  EXPECT_THAT(mistake("func.func @f() {\n  \"test.attribute\"() : () -> ()\n  return\n}"),
              HasSubstr("p.mlir:2:3: test.attribute: is malformed"));
  EXPECT_THAT(mistake("func.func @f() {\n  \"test.isolated\"() : () -> ()\n  return\n}"),
              HasSubstr("test.isolated: has 0 regions"));
}

TEST(Verify, Calls) {
  EXPECT_THAT(mistake("func.func @f() {\n  call @g() : () -> ()\n  return\n}"),
              HasSubstr("function @g is not defined"));
  EXPECT_THAT(mistake("func.func @f() {\n  call @f() : () -> ()\n  return\n}"),
              HasSubstr("function @f calls itself"));
  EXPECT_THAT(mistake("func.func @f() {\n  call @g() : () -> ()\n  return\n}\nfunc.func @g() {\n  "
                      "call @f() : () -> ()\n  return\n}"),
              HasSubstr("calls itself"));
  EXPECT_THAT(mistake("func.func @f(%x: tensor<f32>) {\n  call @g(%x) : (tensor<f32>) -> ()\n  "
                      "return\n}\nfunc.func @g() {\n  return\n}"),
              HasSubstr("@g takes (), but is given (tensor<f32>)"));
}

TEST(Verify, IsolatedRegionsSeeTheirArgumentsAlone) {
  testing::register_test_ops();
  Block outer;
  Value* x = outer.add_argument(Type(DType::f32, {2}));
  Builder b(outer);
  auto inner = std::make_unique<Block>();
  inner->results = {x};
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(inner));
  b.create("test.isolated", {}, {}, std::move(regions));
  EXPECT_THAT(verify(outer).message(),
              HasSubstr("test.isolated: result 0 of a block is not defined there"));
}

TEST(Verify, UseBeforeDefinition) {
  testing::register_test_ops();
  Block block;
  Value* x = block.add_argument(Type(DType::f32, {2}));
  Builder b(block);
  Op& first = b.create("stablehlo.add", {x, x});
  Op& second = b.create("stablehlo.add", {x, x});
  first.operands[1] = second.result();
  EXPECT_THAT(verify(block).message(), HasSubstr("operand 1 is not defined before it"));
  first.operands[1] = x;
  EXPECT_TRUE(verify(block).ok());
}

}  // namespace
}  // namespace strata::ir
