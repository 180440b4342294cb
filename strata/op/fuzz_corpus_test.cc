// What fuzz targets keep (testdata/corpus, chosen by tools/fuzz_corpus.py): each target runs once
// over its inputs, and ends the process where it finds a mistake. The targets are included as they
// are; here and not in their room, because they fill the global registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#define LLVMFuzzerTestOneInput parser_target
#include "strata/ir/text/parser_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput bytecode_target
#include "strata/ir/bytecode/bytecode_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput jax_export_target
#include "strata/ir/export/jax_export_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput evaluate_target
#include "strata/op/evaluate_fuzz.cc"
#undef LLVMFuzzerTestOneInput

/// Of libFuzzer; the mutators above would call it.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t) {
  return size;
}

namespace strata::op {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs(const char* folder) {
  std::vector<fs::path> out;
  for (const auto& f :
       fs::directory_iterator(fs::path(__FILE__).parent_path().parent_path() / folder))
    out.push_back(f.path());
  std::sort(out.begin(), out.end());
  return out;
}

/// How many inputs there were.
std::size_t run(int (*target)(const std::uint8_t*, std::size_t), const char* folder) {
  catalog();
  std::vector<fs::path> all = inputs(folder);
  for (const fs::path& path : all) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0) << path;
  }
  return all.size();
}

TEST(FuzzCorpus, TextIsReadAndPrinted) {
  EXPECT_GT(run(parser_target, "ir/text/testdata/corpus"), 100);
}
TEST(FuzzCorpus, TextIsReadVerifiedAndEvaluated) {
  EXPECT_GT(run(evaluate_target, "ir/text/testdata/corpus"), 100);
}
TEST(FuzzCorpus, BytecodeIsReadAndWritten) {
  EXPECT_GT(run(bytecode_target, "ir/bytecode/testdata/corpus"), 100);
}
TEST(FuzzCorpus, ExportsOfJaxAreRead) {
  EXPECT_GT(run(jax_export_target, "ir/export/testdata/corpus"), 10);
}

}  // namespace
}  // namespace strata::op
