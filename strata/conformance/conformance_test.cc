#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "strata/base/file.h"
#include "strata/conformance/case.h"
#include "strata/conformance/check_lines.h"
#include "strata/conformance/dimensions.h"
#include "strata/conformance/program.h"
#include "strata/conformance/workers.h"
#include "strata/ir/bytecode/writer.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"

namespace strata::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- program -----------------------------------------------------------------------------------

TEST(Split, parts_stand_between_separators_and_know_their_lines) {
  std::vector<Part> parts = split("a\n// -----\nb\nc\n  // -----  \n");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].text, "a\n");
  EXPECT_EQ(parts[1].text, "b\nc\n");
  EXPECT_EQ(parts[1].first_line, 3);
  EXPECT_EQ(parts[2].text, "");
  EXPECT_EQ(split("no separator // -----").size(), 1u);
}

TEST(Load, bytecode_is_one_program) {
  auto module = ir::parse("module @m {\n  func.func public @main() {\n    return\n  }\n}\n");
  ASSERT_TRUE(module.ok());
  auto bytes = ir::write_bytecode(**module);
  ASSERT_TRUE(bytes.ok());
  std::vector<Part> parts = split(*bytes + "\n// -----\n");
  ASSERT_EQ(parts.size(), 1u);
  auto read = load(split(*bytes)[0], "x.mlirbc");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ir::print(**read), ir::print(**module));
  EXPECT_THAT(load(split(bytes->substr(0, 40))[0], "x.mlirbc").status().message(),
              HasSubstr("x.mlirbc: byte"));
}

TEST(Load, mistakes_are_named_by_their_line_in_the_file) {
  auto module = load({"func.func @f() {\n  nonsense\n}", 11}, "x.mlir");
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(), HasSubstr("x.mlir:12:3"));
}

std::unique_ptr<ir::Module> module_of(const std::string& text) {
  auto module = load({text, 1}, "test");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return std::move(*module);
}
std::vector<std::string> entry_names(const std::string& text) {
  auto module = module_of(text);
  auto functions = entries(*module, "", "test");
  EXPECT_TRUE(functions.ok());
  std::vector<std::string> out;
  for (ir::Function* f : *functions) out.push_back(f->name);
  return out;
}

TEST(Entries, main_else_jit_main_else_all_without_arguments) {
  std::string f = "func.func @f() {\nreturn\n}\n",
              g = "func.func @g(%a: tensor<f32>) {\nreturn\n}\n",
              h = "func.func @h() {\nreturn\n}\n";
  std::string jit = "func.func @jit_main() {\nreturn\n}\n",
              main = "func.func @main() {\nreturn\n}\n";
  EXPECT_THAT(entry_names(f + main + jit), ElementsAre("main"));
  EXPECT_THAT(entry_names(f + jit), ElementsAre("jit_main"));
  EXPECT_THAT(entry_names(f + g + h), ElementsAre("f", "h"));
  EXPECT_THAT(entry_names(g), ElementsAre("g"));
  EXPECT_THAT(entry_names(""), ElementsAre());
  EXPECT_EQ(entries(*module_of(f), "absent", "x.mlir").status().message(),
            "x.mlir: no function @absent");
}

// ---- checks ------------------------------------------------------------------------------------

constexpr const char* kChecked = R"(func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  %2 = stablehlo.custom_call @check.eq(%1, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  return %1 : tensor<2xf32>
})";

class InEachMode : public ::testing::TestWithParam<Mode> {};

TEST_P(InEachMode, checks_compare_what_was_computed) {
  auto module = module_of(kChecked);
  ir::Function& f = *module->find("main");
  Callable callable(f, GetParam(), /*fold=*/false);
  EXPECT_EQ(callable.num_results(), 1u);
  EXPECT_EQ(f.body.num_arguments(),
            GetParam() == Mode::compiled ? 1 : 0);  // the constant of two elements
  std::vector<Literal> results = literals(callable.run({}));
  EXPECT_THAT(failed_checks(callable.checks(), results),
              ElementsAre("check 0 (stablehlo.custom_call at test:4:8) at [0]: got 2, want 1 (abs "
                          "1, ulp 8.39e+06), 2 elements differ"));
}
TEST_P(InEachMode, a_barrier_reads_for_each_of_its_results) {
  auto module = module_of(R"(func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = stablehlo.constant dense<-100.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.slice %0 [0:2] : (tensor<3xf32>) -> tensor<2xf32>
  %2:2 = stablehlo.optimization_barrier %c, %1 : tensor<2xf32>, tensor<2xf32>
  check.expect_eq_const %2#0, dense<[1.0, 2.0]> : tensor<2xf32>
  return
})");
  Callable callable(*module->find("main"), GetParam(), /*fold=*/true);
  EXPECT_THAT(failed_checks(callable.checks(), literals(callable.run({}))), ElementsAre());
}
INSTANTIATE_TEST_SUITE_P(Conformance, InEachMode,
                         ::testing::Values(Mode::reference, Mode::compiled));

TEST(Constants, those_of_regions_become_arguments_too) {
  auto module = module_of(R"(func.func @main(%i: tensor<i32>) -> tensor<2xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})");
  ir::Function& f = *module->find("main");
  EXPECT_EQ(constants_to_arguments(f).size(), 1u);
  EXPECT_EQ(f.body.num_arguments(), 2);
  EXPECT_TRUE(ir::verify(*module).ok());
}

// ---- cases -------------------------------------------------------------------------------------

class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(::testing::TempDir() + "conformance_" + name + std::to_string(getpid())) {
    EXPECT_TRUE(make_folders(path_).ok());
  }
  ~Folder() { (void)remove_all(path_).ok(); }
  void write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomic(path_ + "/" + name, text).ok());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Case, a_part_is_a_case_and_ends_with_a_verdict) {
  Folder folder("cases");
  folder.write("a.mlir", std::string(kChecked) +
                             "\n// -----\nfunc.func @f() {\n  return\n}\n// -----\nfunc.func @f() "
                             "{\n  stablehlo.nonsense\n}\n// -----\nwrong");
  auto cases = find_cases(folder.path());
  ASSERT_TRUE(cases.ok());
  ASSERT_EQ(cases->size(), 4u);
  EXPECT_EQ((*cases)[1].name, folder.path() + "/a.mlir#2");
  Verdict want[] = {Verdict::differs, Verdict::equal, Verdict::unsupported, Verdict::malformed};
  for (std::size_t i = 0; i < 4; ++i) {
    Outcome o = run_case((*cases)[i], Mode::reference);
    EXPECT_EQ(o.verdict, want[i]) << i << " " << o.reason;
  }
}

TEST(Case, expected_results_beside_the_program) {
  Folder folder("beside");
  folder.write("a.mlir",
               "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.add %a, %a "
               ": tensor<2xf32>\n  return %0 : tensor<2xf32>\n}");
  checkpoint::TensorFile file;
  file.tensors.emplace("in.0", Literal::of<float>({2}, {1, 2}));
  file.tensors.emplace("out.0", Literal::of<float>({2}, {2, 4.1f}));
  auto outcome = [&](const char* rtol) {
    file.metadata["rtol"] = rtol;
    EXPECT_TRUE(checkpoint::write_safetensors(folder.path() + "/a.safetensors", file).ok());
    return run_case((*find_cases(folder.path()))[0], Mode::reference);
  };
  EXPECT_EQ(outcome("0.1").verdict, Verdict::equal);
  Outcome differs = outcome("0.01");
  EXPECT_EQ(differs.verdict, Verdict::differs);
  EXPECT_THAT(differs.reason, HasSubstr("output 0 differs at [1]: got 4, want 4.0999999"));
}

TEST(Case, unknown_dimensions_come_from_a_manifest_and_modes_agree) {
  Folder folder("dimensions");
  folder.write("a.mlir",
               "func.func public @main(%n: tensor<i64>, %a: tensor<?x2xf32>) -> tensor<?x2xf32> "
               "{\n  return %a : tensor<?x2xf32>\n}");
  EXPECT_THAT(run_case((*find_cases(folder.path()))[0], Mode::reference).reason,
              HasSubstr("there is no " + folder.path() + "/dimensions.txt"));
  folder.write("dimensions.txt", "b.mlir 1 : 1\na.mlir 3 : 3\n");
  EXPECT_EQ(run_case((*find_cases(folder.path()))[0], Mode::reference).reason, "");
  auto dimensions = dimensions_of(folder.path() + "/a.mlir");
  ASSERT_TRUE(dimensions.ok());
  auto module =
      module_of("func.func public @main(%n: tensor<i64>, %a: tensor<?x2xf32>) {\n  return\n}");
  auto arguments = made_arguments(*module->find("main"), *dimensions);
  ASSERT_TRUE(arguments.ok());
  EXPECT_EQ((*arguments)[0].integer(0), 3);
  EXPECT_EQ((*arguments)[1].type().to_string(), "tensor<3x2xf32>");
}

TEST(CheckLines, are_found_in_order_blanks_aside) {
  std::vector<CheckLine> lines = check_lines(
      "  // CHECK:  tensor<2xi8>  {\n x\n// CHECK-NEXT{LITERAL}:   [[1,   2]]\n// CHECK-DENSE: no",
      "CHECK");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].text, "[[1, 2]]");
  EXPECT_EQ(first_unmatched(lines, "before\ntensor<2xi8> {\n  [[1, 2]]\n"), "");
  EXPECT_EQ(first_unmatched(lines, "tensor<2xi8> {\nbetween\n  [[1, 2]]\n"),
            "CHECK-NEXT: [[1, 2]]");
  EXPECT_EQ(first_unmatched(lines, "tensor<3xi8> {"), "CHECK: tensor<2xi8> {");
}

TEST(CheckLines, arguments_stand_in_the_run_line) {
  EXPECT_EQ(run_option("// RUN: not stablehlo-translate %s --args=\"no\"\n// RUN: "
                       "stablehlo-translate %s --interpret --args=\"[dense<1> : tensor<i8>]\" | x",
                       "args"),
            "[dense<1> : tensor<i8>]");
  EXPECT_EQ(run_option("// RUN: stablehlo-translate --interpret %s", "args"), "");
}

// ---- workers -----------------------------------------------------------------------------------

TEST(Workers, crashes_hangs_and_greed_end_one_job_alone) {
  auto work = [](std::size_t i) -> std::string {
    if (i == 2) ::raise(SIGKILL);
    if (i == 3)
      for (;;) ::pause();
    if (i == 4) return std::string(std::size_t{1} << 30, 'x');
    return std::to_string(i);
  };
  std::vector<std::string> said(12);
  auto note = [&](std::size_t i, const std::string& text) { said[i] = text; };
  run_in_workers(said.size(), {.jobs = 2, .seconds = 1, .bytes = std::size_t{256} << 20}, work,
                 note, note);
  for (std::size_t i : {0u, 1u, 5u, 6u, 7u, 8u, 9u, 10u, 11u})
    EXPECT_EQ(said[i], std::to_string(i));
  EXPECT_THAT(said[2], HasSubstr("ended by signal 9"));
  EXPECT_EQ(said[3], "no end after 1 s");
  EXPECT_EQ(said[4], "more than 256 MB of memory");
}

}  // namespace
}  // namespace strata::conformance
