// Regions of reductions, scatters, sorts and maps with anything in them: as kernels where kernels
// can hold them, decomposed where not.
#include <cstring>

#include "strata/compile/compile_testing.h"
#include "strata/ir/text/parser.h"

namespace strata::compile {
namespace {

using testing::arguments_of;
using testing::expect_same_bits;

/// A program in text, run in three ways. Returns the plan, for those who ask how it was done.
Plan expect_same(const std::string& text, const std::vector<Literal>& arguments = {}) {
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return {};
  const ir::Block& f = (*module)->entry()->body;
  std::vector<Literal> in = arguments.empty() ? arguments_of(f) : arguments;
  std::vector<Literal> want = op::evaluate(f, in);
  expect_same_bits(testing::run_plan(f, in), want, "plan by interpreter");
  expect_same_bits(testing::run_compiled(f, in), want, "machine code");
  return make_plan(*prepare(f), {}, testing::v3());
}

bool has_loops(const Steps& steps) {
  for (const Step& s : steps)
    if (!std::holds_alternative<Launch>(s.what) && !std::holds_alternative<Copy>(s.what))
      return true;
  return false;
}

/// `body` maps %a (current) and %b (new) to %r; `outside` stands before the reduction, whose
/// operand is %x.
std::string reduce_program(const std::string& body, const std::string& outside = "",
                           const std::string& type = "f32") {
  return "func.func @main(%x: tensor<3x5x" + type + ">, %z: tensor<" + type + ">, %t: tensor<4x" +
         type + ">) -> tensor<3x" + type + "> {\n" + outside +
         "\n  %0 = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<3x5x" + type +
         ">, tensor<" + type + ">) -> tensor<3x" + type + ">\n   reducer(%a: tensor<" + type +
         ">, %b: tensor<" + type + ">) {\n" + body + "\n    stablehlo.return %r : tensor<" + type +
         ">\n  }\n  return %0 : tensor<3x" + type + ">\n}";
}

const char* const kWhileInside = R"(
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %many = stablehlo.constant dense<4> : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %i, %r = stablehlo.while(%n = %zero, %s = %a) : tensor<i32>, tensor<f32>
    cond {
      %c = stablehlo.compare LT, %n, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.add %n, %one : tensor<i32>
      %h = stablehlo.multiply %s, %half : tensor<f32>
      %u = stablehlo.add %h, %b : tensor<f32>
      stablehlo.return %m, %u : tensor<i32>, tensor<f32>
    })";

TEST(Region, WhileInsideAReduction) {
  EXPECT_FALSE(has_loops(expect_same(reduce_program(kWhileInside)).steps));
}

/// Lanes along the columns, whatever stands around them; a region whose order shows in the bits,
/// and one of two values.
TEST(Region, ReductionsOfColumns) {
  for (const char* type : {"f32", "bf16", "f64"})
    for (const char* shape : {"5x8x", "7x3x45x", "3x5x600x"}) {
      const std::string in = std::string("tensor<") + shape + type + ">",
                        one = std::string("tensor<") + type + ">",
                        rest(std::strchr(shape, 'x') + 1);
      const std::string out = "tensor<" + rest + type + ">", outs = "(" + out + ", " + out + ")";
      expect_same(
          "func.func @main(%x: " + in + ", %y: " + in + ", %z: " + one + ") -> " + outs +
          " {\n  %0:2 = stablehlo.reduce(%x init: %z), (%y init: %z) across dimensions = [0] : (" +
          in + ", " + in + ", " + one + ", " + one + ") -> " + outs + "\n   reducer(%a: " + one +
          ", %c: " + one + ") (%b: " + one + ", %d: " + one + ") {\n" +
          "    %p = stablehlo.multiply %a, %b : " + one + "\n    %q = stablehlo.add %p, %c : " +
          one + "\n    %r = stablehlo.maximum %b, %d : " + one +
          "\n    stablehlo.return %q, %r : " + one + ", " + one +
          "\n  }\n  return %0#0, %0#1 : " + out + ", " + out + "\n}");
    }
}

TEST(Region, BranchesInsideAReduction) {
  EXPECT_FALSE(has_loops(expect_same(reduce_program(R"(
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = "stablehlo.if"(%p) ({
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }, {
      stablehlo.return %a : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %i = stablehlo.convert %b : (tensor<f32>) -> tensor<i32>
    %r = "stablehlo.case"(%i) ({
      %s = stablehlo.negate %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }, {
      %s = stablehlo.sine %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>)"))
                             .steps));
}

TEST(Region, WhileInsideACaseInsideAReduction) {
  std::string inner(kWhileInside);
  EXPECT_FALSE(has_loops(expect_same(reduce_program(R"(
    %k = stablehlo.convert %b : (tensor<f32>) -> tensor<i32>
    %r = "stablehlo.case"(%k) ({)" + inner + R"(
      stablehlo.return %r : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>)"))
                             .steps));
}

TEST(Region, ValuesFromOutside) {
  expect_same(reduce_program(R"(
    %s = stablehlo.multiply %a, %c : tensor<f32>
    %r = stablehlo.add %s, %b : tensor<f32>)",
                             "  %c = stablehlo.sine %z : tensor<f32>"));
  expect_same(reduce_program("    %r = stablehlo.add %z, %z : tensor<f32>"));
}

TEST(Region, ArraysFromOutsideReadByElement) {
  EXPECT_FALSE(has_loops(expect_same(reduce_program(R"(
    %i = stablehlo.convert %b : (tensor<f32>) -> tensor<i32>
    %e = stablehlo.dynamic_slice %t, %i, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %f = stablehlo.reshape %e : (tensor<1xf32>) -> tensor<f32>
    %r = stablehlo.add %a, %f : tensor<f32>)"))
                             .steps));
}

TEST(Region, AReductionInsideAReduction) {
  EXPECT_FALSE(has_loops(expect_same(reduce_program(R"(
    %c = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %d = stablehlo.multiply %c, %t : tensor<4xf32>
    %e = stablehlo.reduce(%d init: %a) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %f = stablehlo.reduce(%d init: %e) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
     reducer(%g: tensor<f32>, %h: tensor<f32>) {
      %i = stablehlo.subtract %g, %h : tensor<f32>
      stablehlo.return %i : tensor<f32>
    }
    %r = stablehlo.multiply %f, %e : tensor<f32>)"))
                             .steps));
}

/// A product is no element at a time: the reduction becomes a loop, and as its arrays are small,
/// that one kernel (small_array_loop.h).
TEST(Region, WhatNoKernelHoldsIsDecomposed) {
  EXPECT_FALSE(has_loops(expect_same(reduce_program(R"(
    %c = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %d = stablehlo.dot_general %c, %t, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %r = stablehlo.add %a, %d : tensor<f32>)"))
                             .steps));
}

TEST(Region, NarrowFloatsRoundAtEachStep) {
  for (const char* type : {"bf16", "f16", "f64"})
    expect_same(reduce_program(std::string("    %s = stablehlo.multiply %a, %b : tensor<") + type +
                                   ">\n    %r = stablehlo.add %s, %b : tensor<" + type + ">",
                               "", type));
}

TEST(Region, WiderAccumulators) {
  expect_same(R"(func.func @main(%x: tensor<3x40xbf16>, %z: tensor<bf16>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<3x40xbf16>, tensor<bf16>) -> tensor<3xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }
  return %0 : tensor<3xf32>
})");
}

TEST(Region, SeveralInputsOfSeveralTypes) {
  expect_same(
      R"(func.func @main(%x: tensor<4x6xf32>, %i: tensor<4x6xi16>, %p: tensor<4x6xi1>, %zx: tensor<f32>, %zi: tensor<i16>, %zp: tensor<i1>)
    -> (tensor<6xf32>, tensor<6xi16>, tensor<6xi1>) {
  %0:3 = stablehlo.reduce(%x init: %zx), (%i init: %zi), (%p init: %zp) across dimensions = [0] : (tensor<4x6xf32>, tensor<4x6xi16>, tensor<4x6xi1>, tensor<f32>, tensor<i16>, tensor<i1>) -> (tensor<6xf32>, tensor<6xi16>, tensor<6xi1>)
   reducer(%a: tensor<f32>, %d: tensor<f32>) (%b: tensor<i16>, %e: tensor<i16>) (%c: tensor<i1>, %f: tensor<i1>) {
    %g = stablehlo.select %c, %a, %d : tensor<i1>, tensor<f32>
    %h = stablehlo.subtract %b, %e : tensor<i16>
    %k = stablehlo.xor %c, %f : tensor<i1>
    stablehlo.return %g, %h, %k : tensor<f32>, tensor<i16>, tensor<i1>
  }
  return %0#0, %0#1, %0#2 : tensor<6xf32>, tensor<6xi16>, tensor<6xi1>
})");
}

TEST(Region, NothingToReduce) {
  expect_same(R"(func.func @main(%x: tensor<3x0xf32>, %z: tensor<f32>) -> tensor<3xf32> {
  %c = stablehlo.sine %z : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<3x0xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %r = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }
  return %0 : tensor<3xf32>
})");
}

std::string scatter_program(const std::string& body) {
  return R"(func.func @main(%x: tensor<5x4xf32>, %y: tensor<5x4xi32>, %i: tensor<6x1xi32>, %u: tensor<6x4xf32>, %v: tensor<6x4xi32>, %t: tensor<4xf32>)
    -> (tensor<5x4xf32>, tensor<5x4xi32>) {
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
)" + body +
         R"(
    stablehlo.return %r, %s : tensor<f32>, tensor<i32>
  }) : (tensor<5x4xf32>, tensor<5x4xi32>, tensor<6x1xi32>, tensor<6x4xf32>, tensor<6x4xi32>) -> (tensor<5x4xf32>, tensor<5x4xi32>)
  return %0#0, %0#1 : tensor<5x4xf32>, tensor<5x4xi32>
})";
}

TEST(Region, AScatterOfTwoArrays) {
  EXPECT_FALSE(has_loops(expect_same(scatter_program(R"(
    %r = stablehlo.subtract %c, %a : tensor<f32>
    %s = stablehlo.add %b, %d : tensor<i32>)"))
                             .steps));
  EXPECT_FALSE(has_loops(expect_same(scatter_program(R"(
    %p = stablehlo.compare LT, %b, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r, %s = "stablehlo.if"(%p) ({
      stablehlo.return %c, %d : tensor<f32>, tensor<i32>
    }, {
      %e = stablehlo.add %a, %c : tensor<f32>
      stablehlo.return %e, %b : tensor<f32>, tensor<i32>
    }) : (tensor<i1>) -> (tensor<f32>, tensor<i32>))"))
                             .steps));
}

/// Decomposed to a loop of updates, which is a kernel of few elements (small_array_loop.h).
TEST(Region, AScatterThatNoScatterKernelHolds) {
  EXPECT_FALSE(has_loops(expect_same(scatter_program(R"(
    %e = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %r = stablehlo.dot_general %e, %t, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %s = stablehlo.add %b, %d : tensor<i32>)"))
                             .steps));
}

std::string sort_program(const std::string& body, const std::string& shape = "3x37",
                         int dimension = 1) {
  std::string x = "tensor<" + shape + "xf32>", i = "tensor<" + shape + "xi32>";
  return "func.func @main(%x: " + x + ", %i: " + i + ", %t: tensor<8xf32>) -> (" + x + ", " + i +
         R"() {
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = )" +
         std::to_string(dimension) + R"( : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
)" + body +
         R"(
    stablehlo.return %r : tensor<i1>
  }) : ()" +
         x + ", " + i + ") -> (" + x + ", " + i + ")\n  return %0#0, %0#1 : " + x + ", " + i +
         "\n}";
}

TEST(Region, SortsOfTwoArrays) {
  for (const char* shape : {"3x37", "3x1", "3x2", "2x64", "0x4", "4x0", "1x1000"}) {
    expect_same(sort_program(
        "    %r = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>", shape));
    expect_same(sort_program(
        "    %r = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>", shape,
        0));
  }
}

TEST(Region, ComparatorsThatAreNoOrder) {
  expect_same(sort_program(
      "    %r = stablehlo.compare NE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>"));
}

TEST(Region, ComparatorsWithBranchesAndValuesFromOutside) {
  EXPECT_FALSE(has_loops(expect_same(sort_program(R"(
    %p = stablehlo.compare EQ, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = "stablehlo.if"(%p) ({
      %q = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %q : tensor<i1>
    }, {
      %e = stablehlo.dynamic_slice %t, %c, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
      %f = stablehlo.dynamic_slice %t, %d, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
      %g = stablehlo.compare LT, %e, %f : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
      %h = stablehlo.reshape %g : (tensor<1xi1>) -> tensor<i1>
      stablehlo.return %h : tensor<i1>
    }) : (tensor<i1>) -> tensor<i1>)"))
                             .steps));
}

TEST(Region, AComparatorThatNoKernelHolds) {
  EXPECT_TRUE(has_loops(expect_same(sort_program(R"(
    %e = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %f = stablehlo.dot_general %e, %t, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    %g = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %h = stablehlo.dot_general %g, %t, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    %r = stablehlo.compare LT, %f, %h : (tensor<f32>, tensor<f32>) -> tensor<i1>)"))
                            .steps));
}

TEST(Region, MapsOfAnything) {
  auto program = [](const std::string& body) {
    return R"(func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
)" + body + R"(
    stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})";
  };
  EXPECT_FALSE(has_loops(expect_same(program("    %c = stablehlo.multiply %a, %b : tensor<f32>\n   "
                                             " %r = stablehlo.add %c, %z : tensor<f32>"))
                             .steps));
  expect_same(program(kWhileInside));
  expect_same(program("    %r = stablehlo.sine %z : tensor<f32>"));
}

TEST(Region, GreatestElements) {
  for (auto [n, k] :
       {std::pair{7, 3}, {7, 7}, {7, 0}, {300, 1}, {300, 64}, {300, 65}, {300, 300}, {1, 1}}) {
    std::string in = fmt::format("tensor<3x{}xf32>", n), out = fmt::format("tensor<3x{}xf32>", k),
                where = fmt::format("tensor<3x{}xi32>", k);
    expect_same("func.func @main(%x: " + in + ") -> (" + out + ", " + where +
                ") {\n  %v, %i = chlo.top_k(%x, k = " + std::to_string(k) + ") : " + in + " -> (" +
                out + ", " + where + ")\n  return %v, %i : " + out + ", " + where + "\n}");
  }
}

TEST(Region, ScansAlongAnyDimension) {
  for (const char* reverse : {"false", "true"})
    expect_same(
        std::string(
            R"(func.func @main(%x: tensor<2x5xf32>, %c: tensor<2xf32>) -> (tensor<2x5xf32>, tensor<2xf32>) {
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 attributes {is_reverse = )") +
        reverse + R"(} {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = stablehlo.sine %b : tensor<2xf32>
    %r = stablehlo.add %a, %s : tensor<2xf32>
    stablehlo.return %s, %r : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x5xf32>, tensor<2xf32>) -> (tensor<2x5xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2x5xf32>, tensor<2xf32>
})");
}

TEST(Region, LoopsOfNoSteps) {
  expect_same(
      R"(func.func @main(%x: tensor<3xf32>, %w: tensor<f32>) -> (tensor<3xf32>, tensor<f32>) {
  %no = stablehlo.constant dense<false> : tensor<i1>
  %0:3 = stablehlo.while(%p = %no, %a = %x, %b = %w) : tensor<i1>, tensor<3xf32>, tensor<f32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %c = stablehlo.sine %a : tensor<3xf32>
    stablehlo.return %p, %c, %w : tensor<i1>, tensor<3xf32>, tensor<f32>
  }
  return %0#1, %0#2 : tensor<3xf32>, tensor<f32>
})");
}

TEST(Region, ComplexAndNarrowElements) {
  expect_same(
      R"(func.func @main(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x5xf32>) {
  %z = stablehlo.complex %x, %y : tensor<3x5xcomplex<f32>>
  %c = stablehlo.constant dense<(1.0, 0.5)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%z init: %c) applies stablehlo.add across dimensions = [1] : (tensor<3x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  %1 = "stablehlo.sort"(%z) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %p = stablehlo.imag %a : (tensor<complex<f32>>) -> tensor<f32>
    %q = stablehlo.imag %b : (tensor<complex<f32>>) -> tensor<f32>
    %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }) : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
  %2 = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %3 = stablehlo.imag %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %4 = stablehlo.real %1 : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
  return %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3x5xf32>
})");
}

}  // namespace
}  // namespace strata::compile
