#include "strata/ir/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"
#include "strata/ir/export/jax_export.h"

namespace strata::ir {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

std::string refusal(const std::string& bytes, const std::string& name) {
  auto module = read(bytes, name);
  EXPECT_FALSE(module.ok()) << name;
  return module ? "" : module.status().message();
}

std::string export_bytes() {
  return *read_file(std::filesystem::path(__FILE__).parent_path() / "export/testdata/layer.jax");
}

constexpr const char* kForms =
    "a program is StableHLO as text (func.func @main ...) or bytecode, or what jax.export "
    "serialises";

TEST(Read, WhatIsNoProgramIsNamed) {
  EXPECT_EQ(refusal("PK\x03\x04\0\0"s, "w.npz"),
            "w.npz: no program, but a NumPy archive (.npz); "s + kForms);
  EXPECT_THAT(refusal("#!/bin/sh\necho\n", "run"),
              HasSubstr("no program, but a script (#!/bin/sh)"));
  EXPECT_THAT(refusal("\x02\0\0\0\0\0\0\0{}"s, "w"),
              HasSubstr("no program, but a safetensors file"));
  EXPECT_THAT(refusal("\x1f\x8b\x08\x01", "p.gz"), HasSubstr("no program, but compressed by gzip"));
  EXPECT_THAT(refusal("a\0b"s, "w"),
              HasSubstr("no program, but 3 bytes that are no text: 61 00 62"));
}

TEST(Read, OfTextThatIsNoProgramThePlaceToo) {
  EXPECT_EQ(refusal("\nimport jax\n", "f.py"),
            "f.py:2:1: expected a function; this is a Python program; "s + kForms);
  EXPECT_THAT(refusal("In the beginning", "kjv.txt"),
              HasSubstr("kjv.txt:1:1: expected a function; this is text that begins with 'In the"));
}

TEST(Read, OfAProgramThePlaceAlone) {
  EXPECT_EQ(refusal("oops func.func @main()", "p.mlir"), "p.mlir:1:1: expected a function");
}

TEST(Read, AnExportThatIsCutShortSaysWhatIsMissing) {
  const std::string whole = export_bytes();
  EXPECT_TRUE(broken_jax_export(whole, "p.jax").ok());
  for (std::size_t size = 200; size < whole.size(); size += 97)
    EXPECT_THAT(refusal(whole.substr(0, size), "p.jax"),
                HasSubstr("p.jax: an export of JAX that is cut short"))
        << size;
  EXPECT_THAT(refusal(whole.substr(0, 500), "p.jax"), HasSubstr("cut short: it says that it has "));
  EXPECT_THAT(refusal(whole.substr(0, 500), "p.jax"), HasSubstr(" at least, the file has 500"));
}

TEST(Read, AnExportThatIsDamagedSaysSo) {
  std::string bytes = export_bytes();
  std::fill(bytes.begin() + 100, bytes.begin() + 160, '\xff');
  EXPECT_THAT(refusal(bytes, "p.jax"), HasSubstr("p.jax: an export of JAX that is "));
}

TEST(Read, AFolderIsNoProgram) {
  namespace fs = std::filesystem;
  const std::string folder = testing::TempDir() + "read_folder";
  fs::create_directories(folder + "/checkpoints/4");
  ASSERT_TRUE(write_file_atomic(folder + "/checkpoints/4/manifest.json", "{}").ok());
  EXPECT_THAT(read_program_file(folder).status().message(), HasSubstr("no program, but a run's"));
  EXPECT_THAT(read_program_file(folder + "/checkpoints/4").status().message(),
              HasSubstr("no program, but a checkpoint's folder"));
  EXPECT_THAT(read_program_file(folder + "/checkpoints").status().message(),
              HasSubstr("no program, but a folder"));
  EXPECT_THAT(read_program_file(folder + "/none").status().message(), HasSubstr("cannot open"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace strata::ir
