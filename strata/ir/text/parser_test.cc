#include "strata/ir/text/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "strata/ir/testing/test_ops.h"
#include "strata/ir/text/printer.h"

namespace strata::ir {
namespace {

using ::testing::HasSubstr;

class ParserTest : public ::testing::Test {
 protected:
  void SetUp() override { testing::register_test_ops(); }

  static std::string body(const std::string& lines) {
    return "func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<f32>) {\n" + lines +
           "\n  return\n}";
  }
  static std::string error(const std::string& text, Code code = Code::invalid) {
    Result<std::unique_ptr<Module>> m = parse(text, "p.mlir");
    if (m.ok()) return "no error";
    EXPECT_EQ(static_cast<int>(m.status().code()), static_cast<int>(code)) << m.status().message();
    return m.status().message();
  }
  static std::string reprinted(const std::string& text, PrintOptions options = {}) {
    Result<std::unique_ptr<Module>> m = parse(text, "p.mlir");
    return m.ok() ? print(**m, options) : m.status().message();
  }
};

TEST_F(ParserTest, LocationsAreSkippedWhereverTheyStand) {
  std::string text = R"(#loc = loc(unknown)
#loc1 = loc("x")
module @m attributes {a.b = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32> loc("p['d']")) -> (tensor<2xf32> {jax.result_info = "r"}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32> loc(#loc1)
    return %0 : tensor<2xf32> loc(callsite("f"("a.py":1:2) at "b"))
  } loc(#loc)
} loc(#loc)
#loc2 = loc("later"(#loc1))
)";
  EXPECT_EQ(reprinted(text), R"(module @m attributes {a.b = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "r"}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
)");
}

TEST_F(ParserTest, OperationsKnowTheirPlace) {
  auto m = parse(body("  %0 = stablehlo.add %x, %y : tensor<2xf32>"), "p.mlir");
  ASSERT_TRUE(m.ok());
  EXPECT_EQ((*m)->functions[0]->body.ops()[0]->where.text(), "p.mlir:2:8");
}

TEST_F(ParserTest, ModulesInModulesKeepTheirPlace) {
  std::string text = R"(module @a {
  module @b {
    func.func @f() {
      return
    }
  }
  func.func @g() {
    return
  }
  module {
    func.func private @g()
  }
  module @"c d" attributes {mhlo.x = 1 : i32} {
  }
}
)";
  EXPECT_EQ(reprinted(text), text);
  std::string generic = R"("builtin.module"() <{sym_name = "a"}> ({
  "builtin.module"() <{sym_name = "b"}> ({
    "func.func"() <{function_type = () -> (), sym_name = "f"}> ({
      "func.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "g"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
  "builtin.module"() ({
    "func.func"() <{function_type = () -> (), sym_name = "g", sym_visibility = "private"}> ({
    }) : () -> ()
  }) : () -> ()
  "builtin.module"() <{sym_name = "c d"}> ({
  ^bb0:
  }) {mhlo.x = 1 : i32} : () -> ()
}) : () -> ()
)";
  EXPECT_EQ(reprinted(text, {.generic = true}), generic);
  EXPECT_EQ(reprinted(generic), text);
  EXPECT_THAT(error("module { module @b {} module @b {} }"), HasSubstr("module @b twice"));
  EXPECT_THAT(error("module { module @b { func.func @f() {return} func.func @f() {return} } }"),
              HasSubstr("function @f twice"));
}

TEST_F(ParserTest, ManyOperationsTakeFewBytes) {
  std::string text =
      "func.func @f(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {\n  %0 = stablehlo.add %x, %x : "
      "tensor<16x16xf32>\n";
  for (int i = 0; i < 20'000; ++i)
    text += fmt::format("  %{} = stablehlo.add %{}, %x : tensor<16x16xf32>\n", i + 1, i);
  text += "  return %0 : tensor<16x16xf32>\n}\n";
  std::size_t before = mallinfo2().uordblks;
  auto m = parse(text, "p.mlir");
  std::size_t after = mallinfo2().uordblks;
  ASSERT_TRUE(m.ok());
  EXPECT_LT(after - before, 4 * text.size());
}

TEST_F(ParserTest, AFunctionAloneIsAModule) {
  EXPECT_EQ(reprinted("func.func @f() {\n  return\n}"),
            "module {\n  func.func @f() {\n    return\n  }\n}\n");
}

TEST_F(ParserTest, GenericFormsRead) {
  std::string text =
      body(R"(  %0 = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = "test.isolated"(%0) <{own = 3 : i64}> ({
  ^bb0(%a: tensor<2xf32>):
    %x = stablehlo.add %a, %a : tensor<2xf32>
    "stablehlo.return"(%x) : (tensor<2xf32>) -> ()
  }) {other.name = "s"} : (tensor<2xf32>) -> tensor<2xf32>)");
  std::string once = reprinted(text);
  EXPECT_THAT(
      once, HasSubstr("\"test.isolated\"(%0) <{own = 3 : i64}> ({\n    ^bb0(%arg3: "
                      "tensor<2xf32>):\n      %2 = stablehlo.add %arg3, %arg3 : tensor<2xf32>\n"));
  EXPECT_THAT(once, HasSubstr("}) {other.name = \"s\"} : (tensor<2xf32>) -> tensor<2xf32>"));
  EXPECT_EQ(reprinted(once), once);
  std::string generic = reprinted(text, {.generic = true});
  EXPECT_THAT(generic, HasSubstr("\"func.return\"() : () -> ()"));
  EXPECT_THAT(generic,
              HasSubstr("\"func.func\"() <{function_type = (tensor<2xf32>, tensor<2xf32>, "
                        "tensor<f32>) -> (), sym_name = \"f\"}> ({\n  ^bb0(%arg0: tensor<2xf32>"));
  EXPECT_EQ(reprinted(generic), once);
  EXPECT_EQ(reprinted(generic, {.generic = true}), generic);
}

TEST_F(ParserTest, ModulesAndFunctionsHaveAGenericFormToo) {
  std::string text = R"(module @m attributes {a.b = 1 : i32} {
  func.func private @f(%arg0: tensor<f32> {x.y = 1 : i64}, %arg1: tensor<f32>) -> (tensor<f32> {jax.result_info = "r"}) attributes {z.w} {
    return %arg0 : tensor<f32>
  }
}
)";
  std::string generic = reprinted(text, {.generic = true});
  EXPECT_EQ(generic, R"("builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{arg_attrs = [{x.y = 1 : i64}, {}], function_type = (tensor<f32>, tensor<f32>) -> tensor<f32>, res_attrs = [{jax.result_info = "r"}], sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>):
    "func.return"(%arg0) : (tensor<f32>) -> ()
  }) {z.w} : () -> ()
}) {a.b = 1 : i32} : () -> ()
)");
  EXPECT_EQ(reprinted(generic), text);
  EXPECT_EQ(reprinted("\"builtin.module\"() ({\n^bb0:\n}) : () -> ()"), "module {\n}\n");
  EXPECT_THAT(error("\"builtin.module\"() ({\n \"func.func\"() <{sym_name = \"f\"}> ({}) : () -> "
                    "()\n}) : () -> ()"),
              HasSubstr("p.mlir:2:2: a function requires sym_name and function_type"));
}

TEST_F(ParserTest, DeclarationsAndMeshesAreKept) {
  std::string text = R"(module {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {a.e = 1 : i64}
  func.func private @g(tensor<4xf32>, tensor<f32> {a.b = 1 : i32}) -> (tensor<4xf32> {a.c})
  func.func private @h() attributes {a.d}
  func.func @f(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    return
  }
}
)";
  EXPECT_EQ(reprinted(text), text);
  EXPECT_EQ(reprinted(text, {.generic = true}), R"("builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "mesh"}> {a.e = 1 : i64} : () -> ()
  "func.func"() <{arg_attrs = [{}, {a.b = 1 : i32}], function_type = (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>, res_attrs = [{a.c}], sym_name = "g", sym_visibility = "private"}> ({
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "h", sym_visibility = "private"}> ({
  }) {a.d} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}], function_type = (tensor<4xf32>) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
)");
  EXPECT_EQ(reprinted(reprinted(text, {.generic = true})), text);
  EXPECT_THAT(error("module {\n  sdy.mesh @m = <[]>\n  sdy.mesh @m = <[]>\n}"),
              HasSubstr("p.mlir:3:12: mesh @m twice"));
  EXPECT_THAT(error("module attributes {\"strata declared\" = 1 : i32} {\n}"),
              HasSubstr("is no name of an attribute"));
}

TEST_F(ParserTest, ResourcesAreTheConstantsTheyName) {
  std::string text = body("  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>") +
                     "\n{-#\n  dialect_resources: {\n    builtin: {\n      w: "
                     "\"0x040000000000803F00000040\"\n    }\n  }\n#-}\n";
  EXPECT_THAT(reprinted(text),
              HasSubstr("stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>"));
  EXPECT_THAT(error(body("  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>")),
              HasSubstr("p.mlir:2:42: resource 'w' is not in the text"));
}

TEST_F(ParserTest, PartsKeepTheirLines) {
  std::string text =
      "func.func @f() {\n  return\n}\n// -----\n\nfunc.func @g() {\n  retrun\n}\n// ----- last\n";
  std::vector<TextPart> parts = split_parts(text);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].text, "func.func @f() {\n  return\n}\n");
  EXPECT_EQ(parts[1].first_line, 5);
  EXPECT_EQ(parts[2].text, "");
  EXPECT_EQ(parse(parts[1].text, "p.mlir", {.first_line = parts[1].first_line}).status().message(),
            "p.mlir:7:3: 'retrun' is no operation");
  EXPECT_EQ(split_parts("x").size(), 1u);
}

TEST_F(ParserTest, QuantisedTypes) {
  std::string text = R"(module {
  func.func @f(%arg0: tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>, %arg1: tensor<?x2x!quant.uniform<u8<1:254>:f32:1, {0.0039215482917486456:3,1.537725862903607E-5}>>) {
    return
  }
}
)";
  EXPECT_EQ(reprinted(text), text);
  EXPECT_THAT(error("func.func @f(%a: tensor<4x!quant.uniform<i8:f32, -1.0:3>>) {"),
              HasSubstr("scale -1.0 is no positive number"));
  EXPECT_THAT(error("func.func @f(%a: tensor<4x!quant.uniform<i8:f32, 1.0:300>>) {"),
              HasSubstr("zero point 300 is not within -128 and 127"));
  EXPECT_THAT(error("func.func @f(%a: tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {"),
              HasSubstr("2 scales for 4 slices"));
  EXPECT_THAT(error("func.func @f(%a: tensor<4x!quant.uniform<i8<0:128>:f32, 1.0>>) {"),
              HasSubstr("bounds 0 and 128 do not fit i8"));
}

TEST_F(ParserTest, PlainCombinersAreRecognised) {
  std::string text = body(
      R"(  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  %2 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %b, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  })");
  auto m = parse(text, "p.mlir");
  ASSERT_TRUE(m.ok()) << m.status().message();
  const auto& ops = (*m)->functions[0]->body.ops();
  EXPECT_EQ(ops[0]->attr<std::string>("combiner"), "add");
  EXPECT_TRUE(ops[0]->regions.empty());
  EXPECT_EQ(ops[1]->attr<std::string>("combiner"), "region");
  std::string printed = print(**m);
  EXPECT_THAT(printed, HasSubstr("applies stablehlo.add across dimensions = [0]"));
  EXPECT_THAT(printed, HasSubstr("     reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {\n      "
                                 "%2 = stablehlo.add %arg4, %arg3"));
  EXPECT_EQ(reprinted(reprinted(text, {.generic = true})), printed);
}

TEST_F(ParserTest, ConstantsKeepTheirBits) {
  auto round = [](const std::string& value) {
    std::string text = reprinted(body("  %0 = stablehlo.constant " + value));
    std::size_t at = text.find("constant ") + 9;
    return text.substr(at, text.find('\n', at) - at);
  };
  for (const char* same :
       {"dense<[[1.000000e+00, 0xFF800000], [0x7FC00001, 0.949999988]]> : tensor<2x2xf32>",
        "dense<[true, false]> : tensor<2xi1>", "dense<> : tensor<0x3xi8>",
        "dense<[-8, 7]> : tensor<2xi4>",
        "dense<(1.000000e+00,-0.000000e+00)> : tensor<2xcomplex<f32>>",
        "dense<18446744073709551615> : tensor<ui64>", "dense<-9223372036854775808> : tensor<3xi64>",
        "dense<1.125000e+00> : tensor<4xf8E4M3FN>"})
    EXPECT_EQ(round(same), same);
  EXPECT_EQ(round("dense<[1, 1]> : tensor<2xi32>"), "dense<1> : tensor<2xi32>");
  EXPECT_EQ(round("dense<\"0x0000803F00000040\"> : tensor<2xf32>"),
            "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>");
  EXPECT_EQ(round("dense<\"0x05\"> : tensor<10xi1>"), "dense<true> : tensor<10xi1>");
  EXPECT_EQ(
      round("dense<\"0x0502\"> : tensor<10xi1>"),
      "dense<[true, false, true, false, false, false, false, false, false, true]> : tensor<10xi1>");
  EXPECT_EQ(round("dense<0x10> : tensor<i8>"), "dense<16> : tensor<i8>");
}

TEST_F(ParserTest, ConstantsThatDoNotFitTheirType) {
  auto message = [](const std::string& value) {
    return error(body("  %0 = stablehlo.constant " + value));
  };
  EXPECT_THAT(message("dense<[1, 2, 3]> : tensor<2xi32>"),
              HasSubstr("too many values along dimension 0"));
  EXPECT_THAT(message("dense<[1]> : tensor<2xi32>"), HasSubstr("too few values"));
  EXPECT_THAT(message("dense<[[1]]> : tensor<1xi32>"), HasSubstr("a list of depth 2"));
  EXPECT_THAT(message("dense<300> : tensor<i8>"), HasSubstr("'300' is no value of i8"));
  EXPECT_THAT(message("dense<-1> : tensor<ui8>"), HasSubstr("'-1' is no value of ui8"));
  EXPECT_THAT(message("dense<\"0x00\"> : tensor<2xf32>"), HasSubstr("1 bytes for tensor<2xf32>"));
  EXPECT_THAT(message("dense<> : tensor<2xf32>"), HasSubstr("no value for tensor<2xf32>"));
  EXPECT_THAT(message("dense<1.0> : tensor<?xf32>"), HasSubstr("a constant of type tensor<?xf32>"));
}

TEST_F(ParserTest, MessagesSayWhere) {
  EXPECT_EQ(error(body("  %0 = stablehlo.add %x, %q : tensor<2xf32>")),
            "p.mlir:2:26: value %q is not defined");
  EXPECT_EQ(error(body("  %0 = stablehlo.add %x, %y tensor<2xf32>")), "p.mlir:2:29: expected ':'");
  EXPECT_EQ(
      error(body("  %0 = stablehlo.add %x, %y : tensor<3xf32>")),
      "p.mlir:2:31: operand 0 of stablehlo.add is tensor<2xf32>, but stated to be tensor<3xf32>");
  EXPECT_EQ(error(body("  %0:2 = stablehlo.add %x, %y : tensor<2xf32>")),
            "p.mlir:2:3: stablehlo.add has 1 results, but 2 are named");
  EXPECT_THAT(error(body("  %x = stablehlo.add %x, %y : tensor<2xf32>")),
              HasSubstr("value %x is defined twice"));
  EXPECT_THAT(error(body("  %0 = foo.bar %x : tensor<2xf32>")),
              HasSubstr("p.mlir:2:8: 'foo.bar' is no operation"));
  EXPECT_THAT(error("func.func @f() -> tensor<f32> {\n  return\n}"),
              HasSubstr("returns (), but is declared to return tensor<f32>"));
  EXPECT_THAT(error("func.func @f() {\n}"), HasSubstr("ends without a return"));
  EXPECT_THAT(error("func.func @f() {\n  return\n} trailing"), HasSubstr("p.mlir:3:3"));
  EXPECT_THAT(error(""), HasSubstr("no error"));  // an empty module is a module
}

TEST_F(ParserTest, WhatStrataLacksIsUnsupported) {
  EXPECT_EQ(
      error(body("  %0 = stablehlo.fft %x, type = FFT : (tensor<2xf32>) -> tensor<2xf32>"),
            Code::unsupported),
      "p.mlir:2:8: operation stablehlo.fft is not supported on (tensor<2xf32>) -> tensor<2xf32>");
  EXPECT_THAT(error("func.func @f(%x: tensor<*xf32>) {\n  return\n}", Code::unsupported),
              HasSubstr("unranked"));
}

TEST_F(ParserTest, NestingAndSizesHaveLimits) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  EXPECT_THAT(error("module attributes {a = " + deep), HasSubstr("nested more than 256 levels"));
  std::string many;
  for (int i = 0; i <= 10'000; ++i) many += fmt::format("{}a{} = 1", i > 0 ? ", " : "", i);
  EXPECT_THAT(error("module attributes {" + many + "} {}", Code::unsupported),
              HasSubstr("more than 10000 attributes"));
  EXPECT_THAT(error(body("  %0 = stablehlo.constant dense<0.0> : tensor<1000000x1000000xf64>"),
                    Code::unsupported),
              HasSubstr("constants of more than"));
  EXPECT_THAT(
      error(body("  %0 = stablehlo.constant dense<0.0> : tensor<9223372036854775807x2xf32>")),
      HasSubstr("a tensor of more than"));
  EXPECT_THAT(error("func.func @f(%x: tensor<99999999999999999999xf32>) {"),
              HasSubstr("does not fit 64 bits"));
  std::string symbol = "@a";
  for (int i = 0; i < 100000; ++i) symbol += "::@a";
  EXPECT_THAT(error("module attributes {a = " + symbol), HasSubstr("nested more than"));
}

TEST_F(ParserTest, BoundedDimensions) {
  std::string text =
      "module {\n  func.func @f(%arg0: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %arg1: "
      "tensor<?xi32>) {\n    return\n  }\n}\n";
  EXPECT_EQ(reprinted(text), text);
  auto m = parse(text);
  EXPECT_EQ((*m)->functions[0]->body.argument(0)->shape().dim(0).bound(), 8);
}

TEST_F(ParserTest, SymbolicDimensionsStandInAnAttribute) {
  std::string text = R"(module {
  func.func @f(%arg0: tensor<?x4xf32> {strata.dims = ["B", ""]}) -> tensor<?x4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}
)";
  EXPECT_EQ(reprinted(text), text);
  auto m = parse(text);
  EXPECT_EQ((*m)->functions[0]->body.results[0]->shape().dim(0).symbol(), "B");
  auto from_generic = parse(print(**m, {.generic = true}));
  EXPECT_EQ((*from_generic)->functions[0]->body.results[0]->shape().dim(0).symbol(), "B");
}

TEST_F(ParserTest, AttributeAliases) {
  EXPECT_THAT(
      reprinted("#a = 3 : i32\nmodule attributes {x.y = #a, x.z = #other.kind<1, \">\">} {\n}\n"),
      HasSubstr("{x.y = 3 : i32, x.z = #other.kind<1, \">\">}"));
  EXPECT_THAT(error("module attributes {x.y = #a} {\n}\n"), HasSubstr("alias #a is not defined"));
}

TEST_F(ParserTest, TypeAliases) {
  EXPECT_EQ(
      reprinted("!e = f32\n!q = !quant.uniform<i8:f32, 0.5:3>\n!t = tensor<4x!e>\n"
                "!u = !t\nmodule {\n  !v = tensor<2x!q>\n"
                "  func.func @f(%x: !t, %y: !v, %z: !stablehlo.token) -> (!u, !v) {\n"
                "    %0 = stablehlo.add %x, %x : !u\n    return %0, %y : !t, !v\n  }\n}\n"),
      reprinted("module {\n  func.func @f(%x: tensor<4xf32>, %y: tensor<2x!quant.uniform<i8:f32, "
                "0.5:3>>, %z: !stablehlo.token) -> (tensor<4xf32>, "
                "tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {\n"
                "    %0 = stablehlo.add %x, %x : tensor<4xf32>\n    return %0, %y : "
                "tensor<4xf32>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>\n  }\n}\n"));
  EXPECT_EQ(reprinted("!t = tensor<2xi32>\n\"func.func\"() <{function_type = (!t) -> !t, sym_name "
                      "= \"f\"}> ({\n^bb0(%x: !t):\n  \"func.return\"(%x) : (!t) -> ()\n}) : () "
                      "-> ()\n"),
            reprinted("func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> {\n  return %x : "
                      "tensor<2xi32>\n}\n"));
  auto of = [&](const std::string& aliases, const std::string& type) {
    return error(aliases + "func.func @f(%x: " + type + ") {\n  return\n}\n");
  };
  EXPECT_THAT(of("", "!t"), HasSubstr("1:18: type alias !t is not defined"));
  EXPECT_THAT(of("!t = tensor<2xf32>\n!t = tensor<2xf32>\n", "!t"),
              HasSubstr("2:2: type alias !t twice"));
  EXPECT_THAT(of("!e = f32\n", "!e"),
              HasSubstr("2:18: the alias of an element type stands for no type: tensor<f32>"));
  EXPECT_THAT(of("!t = tensor<2xf32>\n", "tensor<3x!t>"),
              HasSubstr("2:27: tensor<2xf32> is no element type"));
  EXPECT_THAT(of("!t = !t\n", "!t"), HasSubstr("1:6: type alias !t is not defined"));
  EXPECT_THAT(of("! = f32\n", "!t"), HasSubstr("expected the name of a type alias"));
}

}  // namespace
}  // namespace strata::ir
