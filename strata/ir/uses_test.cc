#include "strata/ir/uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/ir/testing/test_ops.h"
#include "strata/ir/text/parser.h"

namespace strata::ir {
namespace {

// x is read twice by one addition, once by a loop as operand, and by its body, which is nested.
constexpr const char* kProgram = R"(func.func @f(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    %c = "stablehlo.add"(%i, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%c) : (tensor<i32>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    %s = "stablehlo.add"(%i, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "stablehlo.add"(%s, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%t) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
})";

class UsesTest : public ::testing::Test {
 protected:
  UsesTest() {
    testing::register_test_ops();
    auto parsed = parse(kProgram, "p.mlir");
    if (!parsed.ok()) throw std::runtime_error(parsed.status().message());
    module = std::move(*parsed);
    block = &module->entry()->body;
  }
  std::unique_ptr<Module> module;
  Block* block = nullptr;
};

TEST_F(UsesTest, OperationsOfTheBlockComeInOrder) {
  const Uses uses(*block);
  const Op *add = block->ops()[0].get(), *loop = block->ops()[1].get();
  std::vector<std::pair<const Op*, int>> found;
  for (const Uses::Use& use : uses.of(block->argument(0))) found.emplace_back(use.op, use.operand);
  EXPECT_THAT(found, ::testing::ElementsAre(std::pair(add, 0), std::pair(add, 1),
                                            std::pair(loop, 0), std::pair(loop, Uses::kCaptured)));
  EXPECT_EQ(uses.position(add), 0);
  EXPECT_EQ(uses.position(loop), 1);
  EXPECT_EQ(uses.position(loop->region(1).ops()[0].get()), -1);
}

TEST_F(UsesTest, CountsGoIntoRegions) {
  const Uses uses(*block);
  EXPECT_EQ(uses.count(block->argument(0)), 5);
  EXPECT_EQ(uses.count(block->argument(1)), 1);
  EXPECT_EQ(uses.count(block->ops()[0]->result()), 1) << "as a result of the block";
  EXPECT_EQ(uses.count(block->ops()[1]->result()), 0);
}

TEST_F(UsesTest, ResultsOfTheBlockAreKnown) {
  const Uses uses(*block);
  EXPECT_TRUE(uses.is_result(block->ops()[0]->result()));
  EXPECT_FALSE(uses.is_result(block->ops()[1]->result()));
  EXPECT_FALSE(uses.is_result(block->argument(0)));
}

TEST_F(UsesTest, RegionsMayBeEntered) {
  const Uses uses(*block, Uses::Regions::entered);
  const Op *loop = block->ops()[1].get(), *inner = loop->region(1).ops()[0].get();
  EXPECT_EQ(uses.of(block->argument(0)).size(), 5u);
  ASSERT_EQ(uses.of(inner->result()).size(), 1u);
  EXPECT_EQ(uses.of(inner->result())[0].op, loop->region(1).ops()[1].get());
  EXPECT_TRUE(uses.is_result(loop->region(1).ops()[1]->result()));
  EXPECT_EQ(uses.count(block->argument(0)), 5);
}

}  // namespace
}  // namespace strata::ir
