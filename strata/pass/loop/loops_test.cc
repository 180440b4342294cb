// What is done to loops before they are compiled: work that stays is moved out, loops that count
// become scans, products are turned. Every program keeps its bits under the reference evaluator.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/pass/data_movement/scatter_to_select.h"
#include "strata/pass/data_movement/transpose_folding.h"
#include "strata/pass/loop/loop_invariant_code_motion.h"
#include "strata/pass/loop/while_to_scan.h"
#include "strata/pass/simplify.h"

namespace strata::pass {
namespace {

std::unique_ptr<ir::Module> parsed(const std::string& text) {
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message() << "\n" << text;
  return module.ok() ? std::move(*module) : nullptr;
}

std::vector<Literal> arguments_of(const ir::Block& block) {
  std::vector<Literal> out;
  int n = 0;
  for (const auto& a : block.arguments()) {
    out.emplace_back(a->type());
    for (std::int64_t i = 0; i < out.back().count(); ++i)
      is_float(a->dtype()) ? out.back().set_number(i, std::sin(1.0 + static_cast<double>(++n)))
                           : out.back().set_integer(i, ++n % 4);
  }
  return out;
}

/// Runs `change` on the program's entry and compares; the changed program's text.
std::string changed(const std::string& text, void (*change)(ir::Block&)) {
  auto module = parsed(text);
  if (!module) return {};
  ir::Block& f = module->entry()->body;
  std::vector<Literal> arguments = arguments_of(f), want = op::evaluate(f, arguments);
  change(f);
  ir::remove_dead(f);
  EXPECT_TRUE(ir::verify(f).ok()) << ir::verify(f).message();
  std::vector<Literal> got = op::evaluate(f, arguments);
  for (std::size_t r = 0; r < want.size(); ++r)
    EXPECT_TRUE(got[r].same_bits(want[r])) << "result " << r << " of\n" << module->entry()->name;
  return ir::print(*module);
}

std::int64_t count(const std::string& text, const std::string& word) {
  std::int64_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

/// %i counts from `first` to 6; %a, %s and %m are carried on as %p, %q and %r.
std::string loop(const std::string& body, int first = 0) {
  const char* const types = "tensor<i32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4x4xf32>";
  return std::string(
             "func.func @main(%x: tensor<4xf32>, %y: tensor<6x4xf32>, %w: tensor<4x4xf32>) -> (") +
         types + R"() {
  %first = stablehlo.constant dense<)" +
         std::to_string(first) + R"(> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %l:4 = stablehlo.while(%i = %first, %a = %x, %s = %y, %m = %w) : )" +
         types + R"(
  cond {
    %go = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
)" + body +
         "\n    stablehlo.return %j, %p, %q, %r : " + types +
         "\n  }\n  return %l#0, %l#1, %l#2, %l#3 : " + types + "\n}";
}

const char* const kStack = R"(
    %p = stablehlo.dot_general %a, %m, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    %row = stablehlo.reshape %p : (tensor<4xf32>) -> tensor<1x4xf32>
    %q = stablehlo.dynamic_update_slice %s, %row, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %r = stablehlo.add %m, %m : tensor<4x4xf32>)";

void count_all(ir::Block& f) {
  convert_while_to_scan(f);
  simplify(f);
}

TEST(Counted, StacksAndNoCounter) {
  std::string text = changed(loop(kStack), count_all);
  EXPECT_EQ(count(text, "stablehlo.while"), 0) << text;
  EXPECT_EQ(count(text, "strata.scan"), 1) << text;
  EXPECT_EQ(count(text, "dynamic_update_slice"), 0) << text;
  EXPECT_EQ(count(text, "num_carry = 2"), 1) << text;  // %a and %m
}

TEST(Counted, SlicesFromTheEnd) {
  std::string text = changed(loop(R"(
    %five = stablehlo.subtract %six, %one : tensor<i32>
    %k = stablehlo.subtract %five, %i : tensor<i32>
    %row = stablehlo.dynamic_slice %y, %k, %zero, sizes = [1, 4] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %v = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
    %p = stablehlo.add %a, %v : tensor<4xf32>
    %new = stablehlo.add %row, %row : tensor<1x4xf32>
    %q = stablehlo.dynamic_update_slice %s, %new, %k, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
    %f = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
    %ff = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %r = stablehlo.multiply %m, %ff : tensor<4x4xf32>)"),
                             count_all);
  EXPECT_EQ(count(text, "reverse = true"), 1) << text;
  EXPECT_EQ(count(text, "dynamic_slice"), 0) << text;
  EXPECT_EQ(count(text, "num_carry = 3"), 1) << text;  // the counter is asked for
}

// A loop that begins at 2 leaves two rows as they were; rows are written in another order; the old
// stack is read; the counter is doubled.
TEST(Counted, WhatIsNoStackStaysACarry) {
  EXPECT_EQ(count(changed(loop(kStack, 2), count_all), "dynamic_update_slice"), 1);
  std::string other = kStack;
  other.replace(other.find("%row, %i"), 8, "%row, %j");
  EXPECT_EQ(count(changed(loop(other), count_all), "dynamic_update_slice"), 1);
  std::string read = kStack;
  read.replace(read.find("%m, %m"), 6, "%m, %mm");
  read.insert(read.find("    %r ="),
              "    %mm = stablehlo.slice %s [0:4, 0:4] : (tensor<6x4xf32>) -> tensor<4x4xf32>\n");
  EXPECT_EQ(count(changed(loop(read), count_all), "dynamic_update_slice"), 1);
  std::string twice = loop(kStack);
  twice.replace(twice.find("%i, %one"), 8, "%i, %six");
  EXPECT_EQ(count(changed(twice, count_all), "stablehlo.while"), 1);
}

// A counter that nobody asks for is known behind the loop: where it began and so many iterations.
TEST(Counted, ACounterFromTwo) {
  const std::string text = changed(loop(R"(
    %p = stablehlo.add %a, %a : tensor<4xf32>
    %q = stablehlo.add %s, %s : tensor<6x4xf32>
    %r = stablehlo.add %m, %m : tensor<4x4xf32>)",
                                        2),
                                   count_all);
  EXPECT_EQ(count(text, "stablehlo.while"), 0) << text;
  EXPECT_EQ(count(text, "num_carry = 3"), 1) << text;
}

TEST(Counted, NoTurns) {
  EXPECT_EQ(count(changed(loop(kStack, 6), count_all), "stablehlo.while"), 1);
}

TEST(Hoist, ConstantCarriesAndWork) {
  std::string text = changed(loop(R"(
    %t = stablehlo.transpose %m, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %mm = stablehlo.dot_general %t, %m, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = stablehlo.dot_general %a, %mm, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    %q = stablehlo.negate %s : tensor<6x4xf32>
    %r = stablehlo.reshape %m : (tensor<4x4xf32>) -> tensor<4x4xf32>)"),
                             [](ir::Block& f) {
                               simplify(f);
                               hoist_loop_invariants(f);
                             });
  std::size_t loop_at = text.find("stablehlo.while");
  EXPECT_EQ(count(text.substr(0, loop_at), "dot_general"), 1) << text;
  EXPECT_EQ(count(text.substr(loop_at), "dot_general"), 1) << text;
  EXPECT_EQ(count(text.substr(loop_at, text.find("cond", loop_at) - loop_at), "tensor<4x4xf32>"), 0)
      << text;  // %m is no carry
}

TEST(Hoist, WorkOfScans) {
  ir::Block f;
  auto argument = [](ir::Block& block, Shape shape) {
    return block.add_argument(Type(DType::f32, std::move(shape)));
  };
  ir::Value *w = argument(f, {20, 20}), *h = argument(f, {3, 20}), *xs = argument(f, {4, 3, 20});
  ir::Builder b(f);
  auto body = std::make_unique<ir::Block>();
  ir::Value *bw = argument(*body, {20, 20}), *bh = argument(*body, {3, 20}),
            *bx = argument(*body, {3, 20});
  ir::Builder in(*body);
  ir::Value* squared = op::dot_general(in, op::tanh(in, bw), bw, {{}, {}, {1}, {0}});
  ir::Value* next = op::add(in, op::dot_general(in, bh, squared, {{}, {}, {1}, {1}}), bx);
  body->results = {
      next, op::mul(in, next, op::add(in, op::dot_general(in, bx, bw, {{}, {}, {1}, {0}}), next))};
  f.results = op::scan(b, std::move(body), {w}, {h}, {xs}, {.length = 4, .reverse = true});
  std::vector<Literal> arguments = arguments_of(f), want = op::evaluate(f, arguments);
  hoist_loop_invariants(f);
  ir::remove_dead(f);
  EXPECT_TRUE(ir::verify(f).ok()) << ir::verify(f).message();
  std::vector<Literal> got = op::evaluate(f, arguments);
  for (std::size_t r = 0; r < want.size(); ++r) EXPECT_TRUE(got[r].same_bits(want[r])) << r;
  std::vector<std::string> names;
  for (const auto& op : f.ops()) names.push_back(op->name());
  EXPECT_EQ(names, (std::vector<std::string>{"stablehlo.tanh", "stablehlo.dot_general",
                                             "stablehlo.transpose", "strata.scan"}));
}

// Memory for what the loop computed as it read it is not taken beyond bounds: the loop may not even
// turn.
TEST(Hoist, LargeElementwiseWorkStays) {
  for (int n : {64, 20000}) {
    const std::string small = "tensor<" + std::to_string(n) + "xf32>",
                      large = "tensor<" + std::to_string(n) + "x" + std::to_string(n) + "xf32>";
    std::string text = "func.func @main(%x: " + small + ", %n: tensor<i32>) -> tensor<f32> {" + R"(
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.while(%i = %zero, %m = %f0) : tensor<i32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.broadcast_in_dim %x, dims = [0] : (SMALL) -> LARGE
    %t = stablehlo.tanh %y : LARGE
    %f = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> LARGE
    %p = stablehlo.multiply %t, %f : LARGE
    %q = stablehlo.reduce(%p init: %f0) applies stablehlo.add across dimensions = [0, 1] : (LARGE, tensor<f32>) -> tensor<f32>
    stablehlo.return %j, %q : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
})";
    text = std::regex_replace(std::regex_replace(text, std::regex("SMALL"), small),
                              std::regex("LARGE"), large);
    auto module = parsed(text);
    ASSERT_TRUE(module);
    hoist_loop_invariants(module->entry()->body);
    text = ir::print(*module);
    EXPECT_EQ(text.find("stablehlo.tanh") < text.find("stablehlo.while"), n == 64) << text;
  }
}

TEST(Hoist, LayoutOfAProductsOperand) {
  std::string text = changed(
      R"(func.func @main(%x: tensor<3x20xf32>, %w: tensor<20x20xf32>, %n: tensor<i32>) -> tensor<3x20xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %l:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<3x20xf32>
  cond {
    %go = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<3x20xf32>, tensor<20x20xf32>) -> tensor<3x20xf32>
    stablehlo.return %j, %p : tensor<i32>, tensor<3x20xf32>
  }
  return %l#1 : tensor<3x20xf32>
})",
      hoist_loop_invariants);
  EXPECT_LT(text.find("stablehlo.transpose"), text.find("stablehlo.while")) << text;
}

// Columns of two dimensions keep their order.
TEST(Hoist, LayoutOfAnOperandOfThreeDimensions) {
  std::string text = changed(
      R"(func.func @main(%x: tensor<3x20xf32>, %w: tensor<4x5x20xf32>, %n: tensor<i32>) -> tensor<3x20xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %l:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<3x20xf32>
  cond {
    %go = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [2] : (tensor<3x20xf32>, tensor<4x5x20xf32>) -> tensor<3x4x5xf32>
    %q = stablehlo.reshape %p : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    stablehlo.return %j, %q : tensor<i32>, tensor<3x20xf32>
  }
  return %l#1 : tensor<3x20xf32>
})",
      hoist_loop_invariants);
  EXPECT_LT(text.find("stablehlo.transpose"), text.find("stablehlo.while")) << text;
}

// Of a matrix by a vector, the matrix: its rows run along the lanes then.
TEST(Hoist, LayoutOfAMatrixByAVector) {
  auto text = [](const std::string& dims, const std::string& matrix) {
    return changed("func.func @main(%x: tensor<20xf32>, %w: tensor<" + matrix +
                       "xf32>, %n: tensor<i32>) -> tensor<20xf32> {" + R"(
  %one = stablehlo.constant dense<1> : tensor<i32>
  %l:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<20xf32>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.dot_general )" +
                       dims + R"(
    stablehlo.return %j, %p : tensor<i32>, tensor<20xf32>
  }
  return %l#1 : tensor<20xf32>
})",
                   hoist_loop_invariants);
  };
  const std::string rows = text(
      "%w, %a, contracting_dims = [1] x [0] : (tensor<20x20xf32>, tensor<20xf32>) -> "
      "tensor<20xf32>",
      "20x20");
  EXPECT_LT(rows.find("stablehlo.transpose"), rows.find("stablehlo.while")) << rows;
  const std::string columns = text(
      "%w, %a, contracting_dims = [0] x [0] : (tensor<20x20xf32>, tensor<20xf32>) -> "
      "tensor<20xf32>",
      "20x20");
  EXPECT_EQ(count(columns, "stablehlo.transpose"), 0) << columns;
}

// What is transposed in the loop is laid out before it, and what is computed for a product there,
// however little that is.
TEST(Hoist, OperandsThatAreMadeInTheLoop) {
  auto text = [](const std::string& make, const std::string& dims) {
    return changed(
        R"(func.func @main(%x: tensor<20xf32>, %w: tensor<20x20xf32>, %n: tensor<i32>) -> tensor<20xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<20x20xf32>
  %l:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<20xf32>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %v = )" +
            make + R"(
    %p = stablehlo.dot_general %a, %v, contracting_dims = )" +
            dims + R"( : (tensor<20xf32>, tensor<20x20xf32>) -> tensor<20xf32>
    stablehlo.return %j, %p : tensor<i32>, tensor<20xf32>
  }
  return %l#1 : tensor<20xf32>
})",
        hoist_loop_invariants);
  };
  const std::string
      turned = "stablehlo.transpose %w, dims = [1, 0] : (tensor<20x20xf32>) -> tensor<20x20xf32>",
      scaled = "stablehlo.multiply %half, %w : tensor<20x20xf32>";
  const std::string across = text(turned, "[0] x [0]"), along = text(turned, "[0] x [1]"),
                    product = text(scaled, "[0] x [0]");
  EXPECT_LT(across.find("stablehlo.transpose"), across.find("stablehlo.while")) << across;
  EXPECT_GT(along.find("stablehlo.transpose"), along.find("stablehlo.while"))
      << along;  // read as it is
  EXPECT_LT(product.find("stablehlo.multiply"), product.find("stablehlo.while")) << product;
}

std::string transposed_product(const std::string& l, const std::string& r, const std::string& dims,
                               const std::string& out, const std::string& order,
                               const std::string& turned) {
  return "func.func @main(%l: tensor<" + l + ">, %r: tensor<" + r + ">) -> tensor<" + turned +
         "> {\n  %p = stablehlo.dot_general %l, %r, " + dims + " : (tensor<" + l + ">, tensor<" +
         r + ">) -> tensor<" + out + ">\n  %t = stablehlo.transpose %p, dims = " + order +
         " : (tensor<" + out + ">) -> tensor<" + turned + ">\n  return %t : tensor<" + turned +
         ">\n}";
}
void turn(ir::Block& f) { fold_transposes_into_dots(f); }

TEST(Turned, TransposedProducts) {
  auto transposes = [](const std::string& text) {
    return count(changed(text, turn), "stablehlo.transpose");
  };
  EXPECT_EQ(transposes(transposed_product("5x3xf32", "5x4xf32", "contracting_dims = [0] x [0]",
                                          "3x4xf32", "[1, 0]", "4x3xf32")),
            0);
  EXPECT_EQ(transposes(transposed_product("2x5x3xf32", "2x5x4x2xf32",
                                          "batching_dims = [0] x [0], contracting_dims = [1] x [1]",
                                          "2x3x4x2xf32", "[0, 2, 3, 1]", "2x4x2x3xf32")),
            0);
  // Heads move, too: that much of the permutation stays, behind a product whose columns are what
  // runs along memory.
  const std::string heads =
      changed(transposed_product("2x5x6x3xf32", "2x6x4x5xf32",
                                 "batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3]",
                                 "2x6x3x4xf32", "[0, 3, 1, 2]", "2x4x6x3xf32"),
              turn);
  EXPECT_EQ(count(heads, "-> tensor<2x6x4x3xf32>"), 1) << heads;
  EXPECT_EQ(count(heads, "dims = [0, 2, 1, 3]"), 1) << heads;
  // What is transposed before the product counts as it is.
  const std::string before = changed(
      R"(func.func @main(%l: tensor<2x5x6x3xf32>, %r: tensor<2x6x5x4xf32>) -> tensor<2x4x6x3xf32> {
  %t = stablehlo.transpose %l, dims = [0, 2, 3, 1] : (tensor<2x5x6x3xf32>) -> tensor<2x6x3x5xf32>
  %p = stablehlo.dot_general %t, %r, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x6x3x5xf32>, tensor<2x6x5x4xf32>) -> tensor<2x6x3x4xf32>
  %u = stablehlo.transpose %p, dims = [0, 3, 1, 2] : (tensor<2x6x3x4xf32>) -> tensor<2x4x6x3xf32>
  return %u : tensor<2x4x6x3xf32>
})",
      turn);
  EXPECT_EQ(count(before, "stablehlo.transpose"), 1) << before;
  // Not an exchange of sides; the left side would have to be laid out anew.
  EXPECT_EQ(transposes(transposed_product("2x5x3xf32", "2x5x4x2xf32",
                                          "batching_dims = [0] x [0], contracting_dims = [1] x [1]",
                                          "2x3x4x2xf32", "[0, 3, 2, 1]", "2x2x4x3xf32")),
            1);
  EXPECT_EQ(transposes(transposed_product("3x5xf32", "5x4xf32", "contracting_dims = [1] x [0]",
                                          "3x4xf32", "[1, 0]", "4x3xf32")),
            1);
}

// What is few elements spread over many is computed inside, where only elementwise work reads it; a
// product reads memory.
TEST(Counted, SpreadsAreComputedInside) {
  const std::string spread = R"(
    %p = stablehlo.add %a, %a : tensor<4xf32>
    %row = stablehlo.reshape %p : (tensor<4xf32>) -> tensor<1x4xf32>
    %q = stablehlo.dynamic_update_slice %s, %row, %i, %zero : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>
)";
  const std::string many =
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n  %few = stablehlo.slice %x [1:2] : "
      "(tensor<4xf32>) -> tensor<1xf32>\n"
      "  %same = stablehlo.broadcast_in_dim %few, dims = [1] : (tensor<1xf32>) -> "
      "tensor<4x4xf32>\n";
  auto program = [&](const std::string& body) {
    std::string text = loop(spread + body);
    const std::string zero = "  %zero = stablehlo.constant dense<0> : tensor<i32>\n";
    return text.replace(text.find(zero), zero.size(), many);
  };
  auto inside = [](const std::string& text) {
    return count(text.substr(text.find("strata.scan")), "-> tensor<4x4xf32>");
  };
  EXPECT_EQ(
      inside(changed(program("    %r = stablehlo.add %m, %same : tensor<4x4xf32>"), count_all)), 1);
  EXPECT_EQ(
      inside(changed(program("    %r = stablehlo.dot_general %m, %same, contracting_dims = [0] x "
                             "[0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"),
                     count_all)),
      1);  // the product itself
}

std::string one_hot(const std::string& operand, const std::string& dims,
                    const std::string& combiner,
                    const std::string& indices = "tensor<2x3x1x1xi32>") {
  return "func.func @main(%c: tensor<f32>, %o: tensor<2x3x5xf32>, %i: " + indices +
         ", %u: tensor<2x3x1xf32>) -> tensor<2x3x5xf32> {\n" +
         "  %spread = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> "
         "tensor<2x3x5xf32>\n" +
         "  %r = \"stablehlo.scatter\"(%" + operand +
         ", %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<" +
         dims +
         ">, unique_indices = false}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %s = "
         "stablehlo." +
         combiner +
         " %a, %b : tensor<f32>\n    stablehlo.return %s : tensor<f32>\n  }) : "
         "(tensor<2x3x5xf32>, " +
         indices + ", tensor<2x3x1xf32>) -> tensor<2x3x5xf32>\n  return %r : tensor<2x3x5xf32>\n}";
}
void select_all(ir::Block& f) { convert_scatter_to_select(f); }

// The arguments' indices are in 0 .. 3 and, below, where a row has 2, outside.
TEST(OneHot, OneNumberARow) {
  const std::string dims =
      "inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = "
      "[0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3";
  for (const char* indices : {"tensor<2x3x1x1xi32>", "tensor<2x3x1x1xui8>", "tensor<2x3x1x1xi64>"})
    EXPECT_EQ(count(changed(one_hot("spread", dims, "add", indices), select_all), "scatter"), 0)
        << indices;
  EXPECT_EQ(count(changed(one_hot("o", dims, "add"), select_all), "stablehlo.scatter\""), 1);
  EXPECT_EQ(count(changed(one_hot("spread", dims, "multiply"), select_all), "stablehlo.scatter\""),
            1);
  // Rows of indices in another order than those of the operand.
  std::string crossed = one_hot(
      "spread",
      "inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = "
      "[1, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 3",
      "add", "tensor<3x2x1x1xi32>");
  for (std::size_t at; (at = crossed.find("tensor<2x3x1xf32>")) != std::string::npos;)
    crossed.replace(at, 17, "tensor<3x2x1xf32>");
  EXPECT_EQ(count(changed(crossed, select_all), "stablehlo.scatter\""), 1);
}

TEST(OneHot, OutsideTheRowNothing) {
  std::string text = one_hot(
      "spread",
      "inserted_window_dims = [1], input_batching_dims = [0, 2], scatter_indices_batching_dims = "
      "[0, 1], scatter_dims_to_operand_dims = [1], index_vector_dim = 3",
      "add");
  for (std::size_t at; (at = text.find("tensor<2x3x5xf32>")) != std::string::npos;)
    text.replace(at, 17, "tensor<2x2x3xf32>");
  EXPECT_EQ(count(changed(text, select_all), "scatter"), 0);
}

}  // namespace
}  // namespace strata::pass
