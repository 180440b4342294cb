// Updates under masks: the same bits by the part that is written, and what cannot be said so is
// left alone.
#include "strata/pass/data_movement/mask_sinking.h"

#include <gtest/gtest.h>

#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/verify.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"

namespace strata::pass {
namespace {

constexpr const char* kHead = R"(func.func @main(%x: tensor<3x20xf32>, %v: tensor<3x4xf32>,
    %i: tensor<i32>, %p: tensor<i1>, %q: tensor<3xi1>, %m: tensor<3x20xi1>, %at: tensor<3x1xi32>)
    -> tensor<3x20xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.dynamic_update_slice %x, %v, %z, %i : (tensor<3x20xf32>, tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x20xf32>
  %one = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<i1>) -> tensor<3x20xi1>
  %rows = stablehlo.broadcast_in_dim %q, dims = [0] : (tensor<3xi1>) -> tensor<3x20xi1>
)";

/// A scatter into each row at its own place, with what this combines.
std::string scattered(const std::string& combine) {
  return R"(  %s2 = "stablehlo.scatter"(%x, %at, %v) <{indices_are_sorted = true, scatter_dimension_numbers =
    #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0],
    scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
)" + combine +
         R"(  }) : (tensor<3x20xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<3x20xf32>
)";
}
const std::string kAssign = scattered("    stablehlo.return %b : tensor<f32>\n");
const std::string kAdd = scattered(
    "    %c = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %c : tensor<f32>\n");
const std::string kMultiply = scattered(
    "    %c = stablehlo.multiply %a, %b : tensor<f32>\n    stablehlo.return %c : tensor<f32>\n");

/// Whether nothing works on the whole array but the update; the bits must not change, whatever is
/// masked and wherever it would go.
bool is_by_parts(const std::string& body, const std::string& result) {
  const std::string text = kHead + body + "  return " + result + " : tensor<3x20xf32>\n}";
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message() << text;
  ir::Block& f = (*module)->entry()->body;
  auto changed = ir::clone(f);
  sink_masks_into_updates(*changed);
  ir::remove_dead(*changed);
  EXPECT_TRUE(ir::verify(*changed).ok()) << ir::verify(*changed).message();
  for (int turn = 0; turn < 16; ++turn) {
    std::vector<Literal> arguments;
    for (const auto& a : f.arguments()) arguments.emplace_back(a->type());
    for (std::int64_t k = 0; k < 60; ++k) {
      arguments[0].set_number(k, k % 4 == 0 ? -0.0 : static_cast<double>(k) - 30);
      arguments[5].set_integer(k, (k + turn) % 3 == 0);
    }
    for (std::int64_t k = 0; k < 12; ++k)
      arguments[1].set_number(k, k % 3 == 0 ? -0.0 : static_cast<double>(k));
    arguments[2].set_integer(0, 2 * turn - 3);
    arguments[3].set_integer(0, turn % 2);
    for (std::int64_t k = 0; k < 3; ++k) {
      arguments[4].set_integer(k, (turn >> k) % 2);
      arguments[6].set_integer(k, 7 * turn % (11 + 5 * k) - k);
    }
    const auto want = op::evaluate(f, arguments), got = op::evaluate(*changed, arguments);
    EXPECT_EQ(std::memcmp(want[0].data(), got[0].data(), want[0].bytes()), 0) << text;
  }
  bool whole = false;
  ir::walk(*changed, [&](const ir::Op& op) {
    whole |= op.name() == "stablehlo.select" && op.result()->shape().count() == 60;
  });
  return !whole;
}

std::string chosen(const std::string& mask, const std::string& yes, const std::string& no) {
  return "  %r = stablehlo.select " + mask + ", " + yes + ", " + no +
         " : tensor<3x20xi1>, tensor<3x20xf32>\n";
}

TEST(MaskUpdates, OfASliceByAnyMask) {
  for (const char* mask : {"%one", "%rows", "%m"}) {
    EXPECT_TRUE(is_by_parts(chosen(mask, "%s", "%x"), "%r")) << mask;
    EXPECT_TRUE(is_by_parts(chosen(mask, "%x", "%s"), "%r")) << mask;
  }
  EXPECT_TRUE(
      is_by_parts("  %r = stablehlo.select %p, %s, %x : tensor<i1>, tensor<3x20xf32>\n", "%r"));
}

TEST(MaskUpdates, OfAScatter) {
  for (const std::string& scatter : {kAssign, kAdd})
    for (const char* mask : {"%one", "%rows", "%m"}) {
      EXPECT_TRUE(is_by_parts(scatter + chosen(mask, "%s2", "%x"), "%r")) << mask;
      EXPECT_TRUE(is_by_parts(scatter + chosen(mask, "%x", "%s2"), "%r")) << mask;
    }
}

// A combiner without a neutral element of every number's bits: by indices alone.
TEST(MaskUpdates, OfAnyCombinerByItsIndices) {
  EXPECT_TRUE(is_by_parts(kMultiply + chosen("%one", "%s2", "%x"), "%r"));
  EXPECT_TRUE(is_by_parts(kMultiply + chosen("%rows", "%s2", "%x"), "%r"));
  EXPECT_FALSE(is_by_parts(kMultiply + chosen("%m", "%s2", "%x"), "%r"));
}

TEST(MaskUpdates, NotOfAnotherArrayOrOfWhatIsReadBesides) {
  EXPECT_FALSE(is_by_parts(
      "  %y = stablehlo.negate %x : tensor<3x20xf32>\n" + chosen("%m", "%s", "%y"), "%r"));
  EXPECT_FALSE(is_by_parts(
      chosen("%m", "%s", "%x") + "  %t = stablehlo.add %r, %s : tensor<3x20xf32>\n", "%t"));
}

}  // namespace
}  // namespace strata::pass
