// Custom calls of open shapes: refined by what is known, and evaluated as what they become.
#include "strata/op/shape/shape_operands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/shape/refine.h"

namespace strata::op {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<ir::Module> program(const std::string& text) {
  catalog();
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  const Status verified = ir::verify(**module);
  EXPECT_TRUE(verified.ok()) << verified.message();
  ir::inline_calls(**module);
  return std::move(*module);
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

bool bitwise_equal(const Literal& a, const Literal& b) { return a.same_bits(b); }

Literal integers(std::vector<std::int32_t> values) {
  return Literal::of<std::int32_t>(Shape{static_cast<std::int64_t>(values.size())}, values);
}
Literal floats(std::vector<float> values) {
  return Literal::of<float>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

/// The entry's block for types alone; the same results as by evaluation of the open program.
std::unique_ptr<Block> expect_refined(const ir::Module& module, const Literals& arguments) {
  std::vector<Known> known;
  for (const Literal& a : arguments) known.push_back({a.type(), std::nullopt});
  std::unique_ptr<Block> block = refine(module.entry()->body, known);
  EXPECT_FALSE(is_dynamic(*block));
  Literals open = evaluate(module.entry()->body, arguments), fixed = evaluate(*block, arguments);
  EXPECT_EQ(open.size(), fixed.size());
  for (std::size_t i = 0; i < open.size(); ++i) EXPECT_TRUE(bitwise_equal(open[i], fixed[i])) << i;
  return block;
}

const char* const kAllocates = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %r = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<2> : tensor<1xi32>
  %s = stablehlo.concatenate %r, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.custom_call @AllocateBuffer(%s) {indices_of_shape_operands = dense<0> : tensor<1xi64>} : (tensor<2xi32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
})";

TEST(ShapeOperands, give_results_their_shapes_and_are_gone) {
  const auto module = program(kAllocates);
  const auto block = expect_refined(*module, {floats({1, 2, 3})});
  EXPECT_EQ(block->results[0]->type(), Type(DType::f32, {3, 2}));
  EXPECT_TRUE(block->results[0]->op()->operands.empty());
  EXPECT_TRUE(shape_operands(*block->results[0]->op()).empty());
}

TEST(ShapeOperands, that_are_none_are_refused) {
  auto said = [](const std::string& from, const std::string& to) {
    std::string text = kAllocates;
    text.replace(text.find(from), from.size(), to);
    const auto module = program(text);
    const std::string refined =
        message([&] { refine(module->entry()->body, {{Type(DType::f32, {3}), std::nullopt}}); });
    EXPECT_EQ(message([&] { evaluate(module->entry()->body, Literals{floats({1, 2, 3})}); }),
              refined);
    return refined;
  };
  EXPECT_THAT(said("dense<2> : tensor<1xi32>", "dense<4> : tensor<1xi32>"),
              HasSubstr("@AllocateBuffer: result 0 is stated to be tensor<?x2xf32>, but its shape "
                        "operand says tensor<3x4xf32>"));
  EXPECT_THAT(said("dense<2> : tensor<1xi32>", "dense<-2> : tensor<1xi32>"),
              HasSubstr("the shape of result 0 has the size -2"));
  EXPECT_THAT(
      said("dense<0> : tensor<1xi64>", "dense<1> : tensor<1xi64>"),
      HasSubstr("lists [1], not the last of 1 operands in order, one for each of 1 results"));
}

TEST(ShapeOperands, that_are_not_known_are_refused) {
  const auto module = program(R"(
func.func @main(%s: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.custom_call @AllocateBuffer(%s) {indices_of_shape_operands = dense<0> : tensor<1xi64>} : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
})");
  const Block& body = module->entry()->body;
  EXPECT_TRUE(needs_values(body));
  EXPECT_THAT(message([&] { refine(body, {{Type(DType::i32, {1}), std::nullopt}}); }),
              HasSubstr("the shape of a result depends on values that are not known"));
  EXPECT_EQ(refine(body, {{Type(DType::i32, {1}), integers({5})}})->results[0]->type(),
            Type(DType::f32, {5}));
  EXPECT_EQ(evaluate(body, Literals{integers({5})})[0].type(), Type(DType::f32, {5}));
}

/// Windows that span an open dimension, as jax.numpy.cumsum writes them; `reducer` is the body of
/// the function that combines.
std::string cumulative(const std::string& reducer) {
  return R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %w = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %l = stablehlo.subtract %w, %one : tensor<1xi32>
  %lz = stablehlo.concatenate %l, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %p = stablehlo.reshape %lz : (tensor<2xi32>) -> tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %i, %w, %one, %one, %one, %p) {called_computations = [@reducer]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @reducer(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
)" + reducer +
         "}\n";
}

TEST(DynamicReduceWindow, is_a_window_operation_with_the_function_that_it_names) {
  const auto sum =
      program(cumulative("  %r = stablehlo.add %a, %b : tensor<f32>\n  return %r : tensor<f32>\n"));
  const auto block = expect_refined(*sum, {floats({1, 2, 4, 8})});
  EXPECT_TRUE(
      bitwise_equal(evaluate(*block, Literals{floats({1, 2, 4, 8})})[0], floats({1, 3, 7, 15})));
  // 2 a + b, which no word says.
  const auto other = program(cumulative(
      "  %s = stablehlo.add %a, %a : tensor<f32>\n  %r = stablehlo.add %s, %b : tensor<f32>\n"
      "  return %r : tensor<f32>\n"));
  const auto region = expect_refined(*other, {floats({1, 2, 3})});
  EXPECT_THAT(ir::print(*other), HasSubstr("called_computations = [@reducer]"));
  EXPECT_EQ(region->results[0]->op()->name(), "stablehlo.reduce_window");
  EXPECT_EQ(region->results[0]->op()->regions.size(), 1u);
}

TEST(DynamicReduceWindow, without_its_function_or_lists_is_refused) {
  const std::string text =
      cumulative("  %r = stablehlo.add %a, %b : tensor<f32>\n  return %r : tensor<f32>\n");
  auto said = [&](std::vector<std::pair<std::string, std::string>> changes) {
    std::string wrong = text;
    for (const auto& [from, to] : changes) wrong.replace(wrong.find(from), from.size(), to);
    const auto module = program(wrong);
    return message([&] { refine(module->entry()->body, {{Type(DType::f32, {3}), std::nullopt}}); });
  };
  EXPECT_THAT(said({{"[@reducer]", "[@nobody]"}}), HasSubstr("the one function that"));
  EXPECT_THAT(said({{"%one, %p)", "%one, %w)"},
                    {"tensor<1x2xi32>) -> tensor<?xf32>", "tensor<1xi32>) -> tensor<?xf32>"}}),
              HasSubstr("padding has 1 entries, not 2: two for each of 1 dimensions"));
}

TEST(DynamicRngBitGenerator, has_the_bits_of_the_static_one) {
  const auto module = program(R"(
func.func @main(%s: tensor<2xui64>, %x: tensor<?xf32>) -> (tensor<2xui64>, tensor<?x3xui32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %r = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %d = stablehlo.concatenate %r, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %d) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<?x3xui32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<?x3xui32>
})");
  const auto fixed = program(R"(
func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<4x3xui32>) {
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x3xui32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<4x3xui32>
})");
  const Literal state = Literal::of<std::uint64_t>(Shape{2}, {5, 7});
  const Literals given{state, floats({0, 0, 0, 0})};
  expect_refined(*module, given);
  const Literals got = evaluate(module->entry()->body, given),
                 want = evaluate(fixed->entry()->body, Literals{state});
  EXPECT_TRUE(bitwise_equal(got[0], want[0]));
  EXPECT_TRUE(bitwise_equal(got[1], want[1]));
}

/// One less than all elements, the greatest first.
std::string top(const std::string& call, const std::string& results) {
  return "func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi32>) {\n"
         "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
         "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
         "  %k = stablehlo.subtract %n, %one : tensor<i32>\n" +
         call + " : " + results +
         "\n  return %0#0, %0#1 : tensor<?xf32>, tensor<?xi32>\n}\n"
         "func.func @top_k_gt_f32(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: "
         "tensor<i32>) -> tensor<i1> {\n"
         "  %r = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
         "  return %r : tensor<i1>\n}\n";
}

TEST(DynamicTopK, keeps_as_many_as_its_operand_says) {
  const auto module =
      program(top("  %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k)",
                  "(tensor<?xf32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)"));
  expect_refined(*module, {floats({3, 1, 2})});
  const Literals out = evaluate(module->entry()->body, Literals{floats({3, 1, 2})});
  EXPECT_TRUE(bitwise_equal(out[0], floats({3, 2})));
  EXPECT_TRUE(bitwise_equal(out[1], integers({0, 2})));
}

TEST(DynamicApproxTopK, keeps_as_many_as_its_operand_says) {
  const auto module = program(top(
      "  %i = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
      "  %p = stablehlo.dynamic_iota %i, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n"
      "  %s = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>\n"
      "  %v = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %m = stablehlo.constant dense<-1> : tensor<i32>\n"
      "  %0:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %p, %v, %m, %k, %s, %s) "
      "{called_computations = [@top_k_gt_f32], indices_of_shape_operands = dense<[5, 6]> : "
      "tensor<2xi64>, mhlo.backend_config = {reduction_dim = 0 : i64, recall_target = 0.95 : f32}}",
      "(tensor<?xf32>, tensor<?xi32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<1xi32>, "
      "tensor<1xi32>) -> (tensor<?xf32>, tensor<?xi32>)"));
  expect_refined(*module, {floats({3, 1, 2, 7})});
  const Literals out = evaluate(module->entry()->body, Literals{floats({3, 1, 2, 7})});
  EXPECT_TRUE(bitwise_equal(out[0], floats({7, 3, 2})));
  EXPECT_TRUE(bitwise_equal(out[1], integers({3, 0, 2})));
}

/// A row of an open size at a place that a loop counts, by steps of one and of two.
TEST(RealDynamicSlice, reaches_a_known_size_from_a_start_that_a_loop_counts) {
  for (const char* step : {"1", "2"}) {
    std::string text = R"(
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ones = stablehlo.constant dense<[1, STEP]> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %a = stablehlo.constant dense<1> : tensor<1xi32>
  %step = stablehlo.constant dense<STEP> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %up = stablehlo.add %n, %step : tensor<i32>
  %up1 = stablehlo.subtract %up, %one : tensor<i32>
  %half = stablehlo.divide %up1, %step : tensor<i32>
  %w = stablehlo.reshape %half : (tensor<i32>) -> tensor<1xi32>
  %all = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %size = stablehlo.concatenate %a, %all, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %s = stablehlo.dynamic_broadcast_in_dim %f, %w, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %s) : tensor<i32>, tensor<?xf32>
  cond {
    %c = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %r = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %start = stablehlo.concatenate %r, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %limit = stablehlo.add %start, %size : tensor<2xi32>
    %row = stablehlo.real_dynamic_slice %x, %start, %limit, %ones : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x?xf32>
    %flat = stablehlo.dynamic_reshape %row, %w : (tensor<1x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %next = stablehlo.add %sum, %flat : tensor<?xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<?xf32>
  }
  return %0#1 : tensor<?xf32>
})";
    for (std::size_t at; (at = text.find("STEP")) != std::string::npos;) text.replace(at, 4, step);
    const auto module = program(text);
    const Literal x = Literal::of<float>(Shape{2, 3}, {1, 2, 3, 10, 20, 30});
    expect_refined(*module, {x});
    EXPECT_TRUE(bitwise_equal(evaluate(module->entry()->body, Literals{x})[0],
                              *step == '1' ? floats({11, 22, 33}) : floats({11, 33})));
  }
}

/// Where the start alone is known, the size is not.
TEST(RealDynamicSlice, to_a_limit_that_is_not_known_is_refused) {
  const auto module = program(R"(
func.func @main(%x: tensor<5xf32>, %limit: tensor<1xi32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %c, %limit, %c : (tensor<5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
})");
  const Block& body = module->entry()->body;
  const Type x(DType::f32, {5}), limit(DType::i32, {1});
  EXPECT_THAT(message([&] { refine(body, {{x, std::nullopt}, {limit, std::nullopt}}); }),
              HasSubstr("the slice depends on values that are not known"));
  EXPECT_EQ(refine(body, {{x, std::nullopt}, {limit, integers({4})}})->results[0]->type(),
            Type(DType::f32, {3}));
}

/// Branches whose results have open sizes, by reference and refined.
TEST(Refine, branches_of_open_shapes) {
  const auto module = program(R"(
func.func @main(%p: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %f = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = "stablehlo.case"(%p) ({
    %b = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %m = stablehlo.multiply %x, %b : tensor<?xf32>
    stablehlo.return %m : tensor<?xf32>
  }, {
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
})");
  for (std::int32_t which : {0, 1})
    expect_refined(*module, {Literal::scalar(which), floats({1, 2, 3})});
}

}  // namespace
}  // namespace strata::op
