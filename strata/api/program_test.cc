#include "strata/api/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/core.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kExports =
    fs::path(__FILE__).parent_path().parent_path() / "ir" / "export" / "testdata";

/// What tools/goldens/exports.py writes beside an export.
struct Golden {
  std::string signature;
  std::vector<Array> inputs, outputs;
};

/// "f32 2,3 1 2 3 4 5 6"; "-" for a scalar's shape.
Array array_of(std::istream& words) {
  std::string dtype, sizes, number;
  words >> dtype >> sizes;
  std::vector<std::int64_t> shape;
  std::istringstream commas(sizes == "-" ? "" : sizes);
  while (std::getline(commas, number, ',')) shape.push_back(std::stoll(number));
  std::vector<double> values;
  while (words >> number) values.push_back(std::stod(number));
  EnableX64 wide;
  return array(values, shape, *parse_dtype(dtype));
}

Golden golden(const std::string& name) {
  std::ifstream file(kExports / (name + ".txt"));
  Golden out;
  std::getline(file, out.signature);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    (kind == "in" ? out.inputs : out.outputs).push_back(array_of(words));
  }
  return out;
}

Program loaded(const std::string& name) {
  Result<Program> p = Program::load((kExports / (name + ".jax")).string());
  EXPECT_TRUE(p.ok()) << p.status().message();
  return std::move(*p);
}

void expect_as_jax(const std::vector<Array>& got, const std::vector<Array>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].type(), want[i].type()) << i;
    const Literal g = got[i].literal(), w = want[i].literal();
    for (std::int64_t j = 0; j < g.count(); ++j)
      EXPECT_NEAR(g.number(j), w.number(j), 1e-6 * (1 + std::abs(w.number(j)))) << i << ", " << j;
  }
}

class Exports : public ::testing::TestWithParam<const char*> {};

TEST_P(Exports, give_what_jax_computes_with_them) {
  const Golden g = golden(GetParam());
  const Program p = loaded(GetParam());
  EXPECT_EQ(p.signature(), g.signature);
  expect_as_jax(p(g.inputs), g.outputs);
  expect_as_jax(p(g.inputs), g.outputs);
}

INSTANTIATE_TEST_SUITE_P(OfJax, Exports,
                         ::testing::Values("layer", "open", "platforms", "pair", "key"));

TEST(Program, an_open_dimension_takes_any_size) {
  const Program p = loaded("open");
  for (std::int64_t n : {1, 5, 300}) {
    const std::vector<Array> out = p({ones({n, 2}), zeros({n}, DType::i32)});
    EXPECT_EQ(out[0].type(), Type(DType::f32, Shape::of({2 * n, 2})));
    EXPECT_EQ(out[1].type(), Type(DType::i32, Shape::of({n})));
    EXPECT_EQ(out[2].literal().number(0), static_cast<double>(n));
  }
}

TEST(Program, says_in_jaxs_words_which_sizes_do_not_fit) {
  const Program p = loaded("open");
  try {
    p({ones({3, 2}), zeros({4}, DType::i32)});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("inconsistency between dimension size args[1].shape[0] (= 4) "
                                    "and the specification 'b' (= 3)"));
  }
}

TEST(Program, calls_of_several_threads_agree) {
  const Golden g = golden("open");
  const Program p = loaded("open");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) expect_as_jax(p(g.inputs), g.outputs);
    });
  for (std::thread& t : threads) t.join();
}

TEST(Program, of_another_platform_is_refused) {
  Result<Program> p = Program::load((kExports / "tpu.jax").string());
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.status().code(), Code::unsupported);
  EXPECT_THAT(
      p.status().message(),
      HasSubstr("tpu.jax: exported for tpu, not for cpu: export it with platforms=[\"cpu\", "
                "\"tpu\"] (jax.export.export), or load the program of another platform by its "
                "name (Program::load(file, {.platform = \"tpu\"})"));
}

/// The program that JAX lowered for a TPU adds 2, that for a CPU 1.
TEST(Program, of_another_platform_runs_where_that_is_named) {
  auto plus = [](const char* name, const char* platform) {
    Result<Program> p = Program::load((kExports / name).string(), {.platform = platform});
    EXPECT_TRUE(p.ok()) << p.status().message();
    return (*p)({array({0.f, 0.f})})[0].literal().number(0);
  };
  EXPECT_EQ(plus("tpu.jax", "tpu"), 2);
  EXPECT_EQ(plus("platforms.jax", "tpu"), 2);
  EXPECT_EQ(plus("platforms.jax", "cpu"), 1);
  EXPECT_EQ(plus("unchecked.jax", "cpu"), 2);  // whose export says so
  EXPECT_FALSE(Program::load((kExports / "platforms.jax").string(), {.platform = "cuda"}).ok());
}

/// What an input holds, the lengths of a prompt's tokens, say, is no shape: no program for each.
TEST(Program, is_compiled_once_for_all_elements_of_its_inputs) {
  Result<Program> p = Program::read(
      "func.func @main(%x: tensor<?xf32>, %i: tensor<2xi32>) -> (tensor<?xf32>, tensor<2xi32>) {\n"
      "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
      "  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
      "  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
      "  %b = stablehlo.dynamic_broadcast_in_dim %c, %s, dims = [] : (tensor<f32>, tensor<1xi32>) "
      "-> tensor<?xf32>\n"
      "  %0 = stablehlo.multiply %x, %b : tensor<?xf32>\n"
      "  %1 = stablehlo.add %i, %i : tensor<2xi32>\n  return %0, %1 : tensor<?xf32>, "
      "tensor<2xi32>\n"
      "}\n");
  ASSERT_TRUE(p.ok()) << p.status().message();
  p->compile({{Type(DType::f32, {2}), Type(DType::i32, {2})}});
  const std::vector<Array> out = (*p)({array({1.f, 2.f}), astype(array({5, 7}), DType::i32)});
  EXPECT_EQ(out[0].literal().number(1), 4);
  EXPECT_EQ(out[1].literal().integer(1), 14);
}

TEST(Program, without_a_function_says_so) {
  for (const char* text : {"", " \n", "module {}", "module {\n}\n"})
    EXPECT_THAT(Program::read(text, "x.mlir").status().message(),
                HasSubstr("x.mlir: no function to run: a program has one, as func.func @main is"));
}

TEST(Program, of_text_takes_the_entrys_arguments) {
  Result<Program> p = Program::read(
      "func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> tensor<2xf32> {\n  %0 = "
      "stablehlo.add %x, %x : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n");
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(p->signature(), "main(0: f32[2], 1: i32[]) -> (0: f32[2])");
  EXPECT_EQ((*p)({array({1.f, 2.f}), Array(3)})[0].to_string(), array({2.f, 4.f}).to_string());
}

/// A shape made of an argument's elements: another program for each, and no mix-up.
TEST(Program, shapes_by_value) {
  Result<Program> p = Program::read(
      "func.func @main(%n: tensor<1xi32>) -> tensor<?xi32> {\n"
      "  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n  return %0 : "
      "tensor<?xi32>\n}\n");
  ASSERT_TRUE(p.ok()) << p.status().message();
  for (int n : {3, 5, 3})
    EXPECT_EQ((*p)({astype(array({n}), DType::i32)})[0].shape(), Shape::of({n}));
}

TEST(Program, says_what_does_not_fit) {
  const Program p = loaded("layer");
  auto message = [&](std::vector<Array> inputs) {
    try {
      p(inputs);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  std::vector<Array> inputs = golden("layer").inputs;
  EXPECT_THAT(message({}), HasSubstr("0 inputs for layer([0]['b']: f32[3], [0]['w']"));
  inputs[1] = zeros({2, 4});
  EXPECT_THAT(message(inputs), HasSubstr("input 1 ([0]['w']) is f32[2,4], not f32[2,3]"));
}

TEST(Program, files_that_are_not_there_and_text_that_is_none) {
  EXPECT_EQ(Program::load("nowhere.jax").status().code(), Code::not_found);
  EXPECT_THAT(Program::read("func.func @f() {\n  nonsense\n}", "x.mlir").status().message(),
              HasSubstr("x.mlir:2:3"));
  EXPECT_FALSE(Program::read("").ok());
}

/// Every cut and many flips of an export: a message or a program, never anything else.
TEST(Program, damaged_exports_are_refused) {
  for (const char* name : {"layer", "platforms"}) {
    const std::string whole = *read_file((kExports / (std::string(name) + ".jax")).string());
    for (std::size_t n = 0; n < whole.size(); n += 7)
      EXPECT_FALSE(Program::read(whole.substr(0, n), "cut").ok()) << n;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      (void)Program::read(damaged, "flipped").ok();
    }
  }
}

TEST(Program, compiles_ahead_of_its_first_run) {
  loaded("layer").compile();
  const Program open = loaded("open");
  open.compile({{Type(DType::f32, Shape::of({3, 2})), Type(DType::i32, Shape::of({3}))}});
  const Golden g = golden("open");
  expect_as_jax(open(g.inputs), g.outputs);
  auto said = [&](std::vector<Type> types) -> std::string {
    try {
      open.compile(types);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(said({}), HasSubstr("input 0 ([0]) is f32[b,2]: say its sizes"));
  EXPECT_THAT(said({Type(DType::f32, Shape::of({3, 2}))}), HasSubstr("1 inputs for doubled("));
  EXPECT_THAT(said({Type(DType::f32, Shape::of({3, 2})), Type(DType::i32, Shape::of({4}))}),
              HasSubstr("(= 4)"));
}

TEST(Program, whose_shapes_are_elements_is_compiled_by_its_run) {
  Result<Program> p = Program::read(
      "func.func @main(%n: tensor<1xi32>) -> tensor<?xf32> {\n  %0 = stablehlo.dynamic_iota %n, "
      "dim = 0 : (tensor<1xi32>) -> tensor<?xf32>\n"
      "  return %0 : tensor<?xf32>\n}");
  ASSERT_TRUE(p.ok()) << p.status().message();
  try {
    p->compile();
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(e.is_unsupported()) << e.what();
  }
  for (int n : {3, 5, 3}) EXPECT_EQ((*p)({array({n})})[0].size(), n);
}

TEST(Program, gives_its_block_of_fixed_shapes) {
  const Program::Fixed open = loaded("open").fixed(
      {{Type(DType::f32, Shape::of({3, 2})), Type(DType::i32, Shape::of({3}))}});
  EXPECT_EQ(open.body->argument(0)->type(), Type(DType::f32, Shape::of({3, 2})));
  EXPECT_EQ(open.outputs[0].type, Type(DType::f32, Shape::of({6, 2})));
  const Program::Fixed platforms = loaded("platforms").fixed();
  EXPECT_EQ(platforms.body->num_arguments(), 1);  // the number of the platform is no input
  EXPECT_EQ(loaded("layer").fixed().body->num_arguments(), 5);  // nor are unused ones left out
}

}  // namespace
}  // namespace strata
