// Portable artifacts that jaxlib wrote (tools/goldens/artifacts.py): each reads as the program that
// it was made of, in every release of StableHLO; written by us they read the same; and damaged ones
// end in an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "strata/ir/bytecode/reader.h"
#include "strata/ir/bytecode/writer.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/def.h"

namespace strata::op {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

fs::path data() {
  return fs::path(__FILE__).parent_path().parent_path() / "ir" / "bytecode" / "testdata";
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files(const fs::path& folder, const char* extension) {
  std::vector<fs::path> out;
  for (const auto& f : fs::directory_iterator(folder))
    if (f.path().extension() == extension) out.push_back(f.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string printed(const Result<std::unique_ptr<ir::Module>>& m) {
  if (!m) return m.status().message();
  if (Status s = ir::verify(**m); !s.ok()) return s.message();
  return ir::print(**m) + ir::print(**m, {.generic = true});
}

/// The program of an artifact NAME-RELEASE.mlirbc: what jaxlib reads from it, where that is not
/// NAME.mlir.
fs::path program_of(fs::path artifact) {
  fs::path own = artifact.replace_extension(".mlir");
  if (fs::exists(own)) return own;
  std::string stem = artifact.stem().string();
  return data() / (stem.substr(0, stem.rfind('-')) + ".mlir");
}

TEST(Artifacts, ReadAsTheirProgram) {
  catalog();
  int count = 0;
  for (const fs::path& path : files(data() / "artifacts", ".mlirbc")) {
    std::string expected = printed(ir::parse(contents(program_of(path)), "program"));
    EXPECT_EQ(printed(ir::read_bytecode(contents(path), path.filename().string())), expected)
        << path.filename();
    ++count;
  }
  EXPECT_GE(count, 70);
}

/// StableHLO's own, of its oldest release and its newest, with quantised types and what jaxlib does
/// not say.
TEST(Artifacts, UpstreamsReadAsTheirText) {
  catalog();
  for (const fs::path& path : files(data() / "upstream", ".mlirbc")) {
    fs::path program = path;
    std::string text = contents(program.replace_extension(".mlir"));
    auto module = ir::parse(text, program.filename().string());
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_GE((*module)->functions.size(), 160u) << path.filename();
    EXPECT_EQ(printed(ir::read_bytecode(contents(path), path.filename().string())), printed(module))
        << path.filename();
    Result<std::string> bytes = ir::write_bytecode(**module, {.release = "1.20.0"});
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    EXPECT_EQ(printed(ir::read_bytecode(*bytes, "written")), printed(module)) << path.filename();
  }
}

/// As many releases as the program can be written for.
TEST(Artifacts, ReadWhatIsWritten) {
  catalog();
  for (const fs::path& path : files(data(), ".mlir")) {
    auto module = ir::parse(contents(path), path.filename().string());
    ASSERT_TRUE(module.ok()) << module.status().message();
    for (const char* release : {"1.10.0", "1.13.0", "1.17.0", "1.20.0"}) {
      Result<std::string> bytes = ir::write_bytecode(**module, {.release = release});
      ASSERT_TRUE(bytes.ok()) << path.filename() << ": " << bytes.status().message();
      EXPECT_EQ(printed(ir::read_bytecode(*bytes, "written")), printed(module))
          << path.filename() << " of " << release;
    }
  }
}

/// Every operation, and a constant's bits, are the same; numbers of entries and their order are
/// ours.
TEST(Artifacts, WrittenOnesAreAboutAsLongAsUpstreams) {
  catalog();
  std::string theirs = contents(data() / "artifacts" / "products-1.8.0.mlirbc");
  auto module = ir::read_bytecode(theirs, "theirs");
  ASSERT_TRUE(module.ok());
  Result<std::string> ours = ir::write_bytecode(**module, {.release = "1.10.0"});
  ASSERT_TRUE(ours.ok());
  EXPECT_LT(ours->size(), theirs.size() * 5 / 4);
}

TEST(Artifacts, OperationsKnowTheirPlace) {
  catalog();
  auto module = ir::read_bytecode(contents(data() / "artifacts" / "elementwise-1.10.0.mlirbc"),
                                  "elementwise");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->functions[0]->body.ops()[0]->where.text(), "-:4:10");
}

TEST(Artifacts, CutOnesEndInAnError) {
  catalog();
  for (const char* name : {"control-0.9.0", "shardy-0.15.0"}) {
    std::string whole = contents(data() / "artifacts" / (std::string(name) + ".mlirbc"));
    ASSERT_FALSE(whole.empty());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      auto module = ir::read_bytecode(std::string_view(whole).substr(0, size), name);
      ASSERT_FALSE(module.ok()) << size;
      EXPECT_THAT(module.status().message(), HasSubstr(": byte ")) << size;
    }
  }
}

/// One bit of each byte, which one at random: an error, or a program that can be printed.
TEST(Artifacts, DamagedOnesEndInAnErrorOrAProgram) {
  catalog();
  std::mt19937 random(7);
  for (const fs::path& path : files(data() / "artifacts", ".mlirbc")) {
    std::string whole = contents(path);
    for (std::size_t i = 0; i < whole.size(); i += 1 + random() % 7) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ 1u << random() % 8);
      auto module = ir::read_bytecode(damaged, "damaged",
                                      {.limits = {.depth = 64, .literal_bytes = 1 << 20}});
      if (module.ok() && ir::verify(**module).ok()) ir::print(**module);
    }
  }
}

/// Defaults are for those who write: what is absent here would come back as a default that nobody
/// said.
TEST(Artifacts, AnAttributeThatIsAbsentIsNamed) {
  catalog();
  struct Case {
    const char *artifact, *name, *operation;
  };
  for (auto [artifact, name, operation] :
       {Case{"shapes-0.9.0", "limit_indices", "slice_v1"},
        Case{"control-0.14.0", "outfeed_config", "outfeed_v1"}}) {
    std::string bytes = contents(data() / "artifacts" / (std::string(artifact) + ".mlirbc"));
    std::size_t at = bytes.find(name);
    ASSERT_NE(at, std::string::npos) << artifact;
    bytes[at] = 'x';
    auto module = ir::read_bytecode(bytes, artifact);
    ASSERT_FALSE(module.ok()) << artifact;
    EXPECT_THAT(module.status().message(),
                HasSubstr(fmt::format("vhlo.{} without attribute '{}'", operation, name)));
  }
}

TEST(Artifacts, AVersionThatIsNoneIsNamed) {
  catalog();
  std::string bytes = contents(data() / "artifacts" / "calls-0.14.0.mlirbc");
  std::size_t at = bytes.find("custom_call_v1");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 13] = '0';
  auto module = ir::read_bytecode(bytes, "calls");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), Code::unsupported);
  EXPECT_THAT(module.status().message(),
              HasSubstr("operation vhlo.custom_call_v0 is not supported"));
}

/// Also where text packs several attributes into one of that name.
TEST(Artifacts, NotesOfAnyNameAreKept) {
  catalog();
  std::string notes =
      "{algorithm = \"a\", channel_handle = 1 : i64, dimension_numbers = \"b\", "
      "num_primitive_operations = \"c\"}";
  auto module = ir::parse(fmt::format("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{\n  "
                                      "%0 = stablehlo.exponential %a {} : tensor<4xf32>\n  "
                                      "return %0 : tensor<4xf32>\n}}",
                                      notes),
                          "p");
  ASSERT_TRUE(module.ok()) << module.status().message();
  Result<std::string> bytes = ir::write_bytecode(**module);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(printed(ir::read_bytecode(*bytes, "written")), printed(module));
  EXPECT_THAT(printed(module), HasSubstr(notes));
}

TEST(Artifacts, WhatHasNoFormThereIsNamed) {
  catalog();
  auto module = ir::parse(
      "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.exponential %a {x.y "
      "= #mhlo.z<1>} : tensor<4xf32>\n  return "
      "%0 : tensor<4xf32>\n}",
      "p");
  ASSERT_TRUE(module.ok()) << module.status().message();
  Result<std::string> bytes = ir::write_bytecode(**module);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), Code::unsupported);
  EXPECT_THAT(bytes.status().message(), HasSubstr("#mhlo.z<1>"));
  EXPECT_FALSE(ir::write_bytecode(**module, {.release = "1.9.0"}).ok());
  EXPECT_FALSE(ir::write_bytecode(**module, {.release = "newest"}).ok());
}

}  // namespace
}  // namespace strata::op
