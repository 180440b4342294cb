// Every program below conformance/: read, printed, read again and printed the same in both forms;
// and printed as jaxlib prints it, where conformance/prints.txt (tools/goldens/prints.py) has its
// hash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/testing/sha256.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/def.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

namespace fs = std::filesystem;

fs::path root() { return fs::path(__FILE__).parent_path().parent_path().parent_path(); }

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> programs(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& f : fs::recursive_directory_iterator(folder))
    if (f.path().extension() == ".mlir") out.push_back(f.path());
  std::sort(out.begin(), out.end());
  return out;
}

/// Upstream keeps the value of a splat that has no elements; ours has nowhere to be kept.
bool has_empty_splat(std::string_view name) {
  return name.find("fft_") != name.npos && name.find("_14_15_0_17") != name.npos;
}

struct Hashes {
  std::string custom, generic;
};

std::map<std::string, Hashes> expected_prints() {
  std::map<std::string, Hashes> out;
  std::ifstream in(root() / "conformance" / "prints.txt");
  std::string custom, generic, name;
  while (in >> custom >> generic >> name) out[name] = {custom, generic};
  return out;
}

/// What is wrong with the text of one program; empty when nothing is.
std::string mistake(std::string_view text, const std::string& name, const Hashes* expected) {
  auto module = ir::parse(text, name);
  if (!module) return module.status().message();
  std::string custom = ir::print(**module), generic = ir::print(**module, {.generic = true});
  for (const std::string& once : {custom, generic}) {
    auto again = ir::parse(once, name + " as printed");
    if (!again) return again.status().message();
    if (ir::print(**again) != custom) return name + ": printed differently the second time";
    if (ir::print(**again, {.generic = true}) != generic)
      return name + ": printed differently the second time, in the generic form";
  }
  if (expected == nullptr || has_empty_splat(name)) return "";
  if (ir::testing::sha256_hex(custom).substr(0, 16) != expected->custom)
    return name + ": not as jaxlib prints it";
  if (ir::testing::sha256_hex(generic).substr(0, 16) != expected->generic)
    return name + ": not as jaxlib prints it in the generic form";
  return "";
}

class Corpus : public ::testing::TestWithParam<const char*> {};

TEST_P(Corpus, PrintsAsUpstreamAndReadsWhatItPrints) {
  catalog();
  static const std::map<std::string, Hashes> expected = expected_prints();
  ASSERT_FALSE(expected.empty());
  fs::path folder = root() / "conformance";
  int count = 0, failed = 0;
  std::string report;
  for (const fs::path& path : programs(folder / GetParam())) {
    std::string text = contents(path), file = fs::relative(path, folder).generic_string();
    int part = 0;
    for (const ir::TextPart& p : ir::split_parts(text)) {
      std::string name = file + "#" + std::to_string(part++);
      auto hashes = expected.find(name);
      std::string wrong =
          mistake(p.text, name, hashes == expected.end() ? nullptr : &hashes->second);
      ++count;
      if (!wrong.empty() && ++failed <= 30) report += "  " + wrong + "\n";
    }
  }
  EXPECT_GT(count, 0);
  EXPECT_EQ(failed, 0) << "of " << count << " programs:\n" << report;
}

INSTANTIATE_TEST_SUITE_P(Text, Corpus,
                         ::testing::Values("jax", "stablehlo/dynamic", "stablehlo/interpret",
                                           "stablehlo/math", "stablehlo/quantized",
                                           "stablehlo/testdata"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

/// What a program earns: from the reader, from the verifier, or, where only a run can tell, from
/// the evaluator of its main.
std::string message_of(const std::string& text, const std::string& name) {
  auto module = ir::parse(text, name);
  if (!module.ok()) return module.status().message();
  if (Status status = ir::verify(**module); !status.ok()) return status.message();
  try {
    ir::inline_calls(**module);
    if (Status status = ir::verify(**module); !status.ok()) return status.message();
    const ir::Function* main = (*module)->find("main");
    if (main == nullptr || main->body.num_arguments() > 0) return "nothing is wrong";
    evaluate(main->body, {});
  } catch (const Error& e) {
    return fmt::format("{}: {}: {}", e.where(), e.operation(), e.message());
  }
  return "nothing is wrong";
}

/// Each file holds one mistake; its first line is a comment with the message that it earns.
int expect_messages(const fs::path& folder) {
  catalog();
  int count = 0;
  for (const fs::path& path : programs(folder)) {
    std::string text = contents(path), first = text.substr(0, text.find('\n'));
    EXPECT_EQ(first.substr(0, 3), "// ") << path;
    EXPECT_EQ(message_of(text, fs::relative(path, folder).generic_string()), first.substr(3));
    ++count;
  }
  return count;
}

TEST(WrongPrograms, EachEarnsItsMessage) {
  EXPECT_GE(expect_messages(root() / "strata/ir/text/testdata/wrong"), 70);
}

/// tools/check_constraints.py counts which constraints they show.
TEST(WrongPrograms, EachBreaksItsConstraint) {
  EXPECT_GE(expect_messages(root() / "strata/op/testdata/wrong"), 700);
}

TEST(Sha256, KnownHashes) {
  EXPECT_EQ(ir::testing::sha256_hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ir::testing::sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

}  // namespace
}  // namespace strata::op
