// The text of real operations: equal to upstream's byte by byte, read back, and safe against any
// bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/def.h"

namespace strata::op {
namespace {

using ::testing::HasSubstr;

/// Programs as jaxlib's MLIR prints them (tools/goldens/text.py).
std::vector<std::filesystem::path> goldens() {
  std::vector<std::filesystem::path> out;
  std::filesystem::path strata = std::filesystem::path(__FILE__).parent_path().parent_path();
  for (const auto& f : std::filesystem::directory_iterator(strata / "ir/text/testdata"))
    if (f.path().extension() == ".mlir") out.push_back(f.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::unique_ptr<ir::Module> parsed(const std::string& text) {
  catalog();
  auto m = ir::parse(text, "p.mlir");
  EXPECT_TRUE(m.ok()) << m.status().message();
  if (!m.ok()) return nullptr;
  Status s = ir::verify(**m);
  EXPECT_TRUE(s.ok()) << s.message();
  return std::move(*m);
}

class Golden : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, PrintsAsUpstream) {
  std::string text = contents(GetParam());
  auto m = parsed(text);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(ir::print(*m), text);
}

TEST_P(Golden, GenericFormSaysTheSame) {
  std::string text = contents(GetParam());
  auto m = parsed(text);
  ASSERT_NE(m, nullptr);
  std::string generic = ir::print(*m, {.generic = true});
  auto again = parsed(generic);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(ir::print(*again), text);
  EXPECT_EQ(ir::print(*again, {.generic = true}), generic);
}

TEST_P(Golden, PassesKeepItWellFormed) {
  for (const auto& [name, pass] : ir::Passes::global().all()) {
    auto m = parsed(contents(GetParam()));
    ASSERT_NE(m, nullptr);
    pass.run(*m);
    Status s = ir::verify(*m);
    EXPECT_TRUE(s.ok()) << name << ": " << s.message();
  }
}

/// Reads bytes that may be anything; a crash, a hang or a failed check of ours is the test's
/// failure.
void survive(std::string_view bytes) {
  ir::ParseOptions options{.limits = {.depth = 64, .literal_bytes = std::size_t{1} << 20}};
  auto m = ir::parse(bytes, "p.mlir", options);
  if (!m.ok()) {
    ASSERT_THAT(m.status().message(), ::testing::StartsWith("p.mlir:"));
    return;
  }
  if (!ir::verify(**m).ok()) return;
  std::string once = ir::print(**m);
  auto again = ir::parse(once, "again", options);
  ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << once;
  ASSERT_EQ(ir::print(**again), once);
}

TEST_P(Golden, TruncatedAnywhere) {
  catalog();
  std::string text = contents(GetParam());
  for (std::size_t n = 0; n < text.size(); ++n) survive(std::string_view(text).substr(0, n));
}

TEST_P(Golden, DamagedAnywhere) {
  catalog();
  std::string text = contents(GetParam());
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = text;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      std::size_t at = random() % bad.size();
      switch (random() % 4) {
        case 0: bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8)); break;
        case 1: bad.erase(at, random() % 12); break;
        case 2: bad.insert(at, bad.substr(random() % bad.size(), random() % 20)); break;
        case 3: bad[at] = "0123456789-[](){}<>,:%?\"#@x"[random() % 27]; break;
      }
    }
    survive(bad);
  }
}

INSTANTIATE_TEST_SUITE_P(Text, Golden, ::testing::ValuesIn(goldens()),
                         [](const auto& info) { return info.param.stem().string(); });

// ---- Strata's own ------------------------------------------------------------------------------

TEST(Text, OwnOperationsHaveTheGenericForm) {
  std::string text = R"(module {
  func.func @f(%arg0: tensor<f32>, %arg1: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %0:2 = "strata.scan"(%arg0, %arg1) <{length = 4 : i64, num_carry = 1 : i64, num_consts = 0 : i64, reverse = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %1, %arg2 : tensor<f32>, tensor<f32>
    }) : (tensor<f32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
    return %0#0, %0#1 : tensor<f32>, tensor<4xf32>
  }
}
)";
  auto m = parsed(text);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(ir::print(*m), text);
}

TEST(Text, ReferencesAreTypes) {
  std::string text = R"(module {
  func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "strata.ref_new"(%arg0) : (tensor<4xf32>) -> !strata.ref<4xf32>
    "strata.ref_set"(%0, %arg0) : (!strata.ref<4xf32>, tensor<4xf32>) -> ()
    %1 = "strata.ref_get"(%0) : (!strata.ref<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
)";
  auto m = parsed(text);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(ir::print(*m), text);
}

// ---- whose mistake -----------------------------------------------------------------------------

Status verified(const std::string& text) {
  catalog();
  auto m = ir::parse(text, "p.mlir");
  return m.ok() ? ir::verify(**m) : m.status();
}

TEST(Text, AConstraintIsTheProgramsMistake) {
  Status s = verified(
      "func.func @f(%a: tensor<2x3xf32>) {\n  %0 = stablehlo.transpose %a, dims = [0, 0] : "
      "(tensor<2x3xf32>) -> tensor<2x2xf32>\n  return\n}");
  EXPECT_EQ(static_cast<int>(s.code()), static_cast<int>(Code::invalid));
  EXPECT_THAT(s.message(), HasSubstr("p.mlir:2:8: "));
}

TEST(Text, AnAttributeOfAnotherKind) {
  for (const char* line :
       {"\"stablehlo.iota\"() <{iota_dimension = \"x\"}> : () -> tensor<2xf32>",
        "\"stablehlo.iota\"() : () -> tensor<2xf32>",
        "\"stablehlo.compare\"(%a, %a) <{comparison_direction = 3 : i64}> : (tensor<2xf32>, "
        "tensor<2xf32>) -> tensor<2xi1>",
        "\"stablehlo.reduce\"(%a, %a) <{dimensions = array<i64: 0>, combiner = \"add\"}> : "
        "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
        "\"strata.scan\"(%a) <{length = 1.5 : f64}> : (tensor<2xf32>) -> tensor<2xf32>",
        "\"strata.remat\"(%a) : (tensor<2xf32>) -> tensor<2xf32>"}) {
    Status s = verified(std::string("func.func @f(%a: tensor<2xf32>) {\n  %0 = ") + line +
                        "\n  return\n}");
    EXPECT_EQ(static_cast<int>(s.code()), static_cast<int>(Code::invalid))
        << line << ": " << s.message();
  }
}

}  // namespace
}  // namespace strata::op
