// The table of passes, the order of the pipeline, and each pass on a program beside it:
// testdata/dot_slicing.mlir holds what goes into `dot-slicing` and, behind a line `// -----`, what
// comes out.
#include "strata/pass/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/testing/random_graph.h"

namespace strata::pass {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Passes, HaveNamesAndSentences) {
  std::set<std::string_view> names, used;
  for (const Pass& pass : all_passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name << " stands there twice";
    EXPECT_GT(pass.summary.size(), 20u) << pass.name;
    EXPECT_EQ(find_pass(pass.name), &pass);
  }
  for (const Step& step : pipeline()) {
    const Pass* pass = find_pass(step.pass);
    ASSERT_NE(pass, nullptr) << step.pass;
    EXPECT_GT(step.reason.size(), 10u) << step.pass;
    EXPECT_TRUE(!step.if_changed || pass->cleanup) << step.pass << " is no cleanup";
    used.insert(step.pass);
  }
  EXPECT_EQ(used, names) << "every pass is in the pipeline";
}

std::string refusal_of(const std::string& name) {
  try {
    (void)run_pipeline(std::make_unique<ir::Block>(), nullptr, {.disabled = {name}, .after = {}});
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Passes, ThatAreUnknownOrRequiredAreNotLeftOut) {
  EXPECT_THAT(refusal_of("lcm"), HasSubstr("no pass 'lcm'; did you mean 'licm'?"));
  EXPECT_THAT(refusal_of("erase-tokens"), HasSubstr("programs do not compile without it"));
  EXPECT_EQ(refusal_of("licm"), "");
}

class OnText : public ::testing::TestWithParam<std::string> {};

TEST_P(OnText, MakesOfTheFirstProgramTheSecond) {
  add_passes();
  const fs::path path = fs::path(__FILE__).parent_path() / "testdata" / (GetParam() + ".mlir");
  std::string name = GetParam();
  std::replace(name.begin(), name.end(), '_', '-');
  const std::string text = *read_file(path.string());
  const auto parts = ir::split_parts(text);
  ASSERT_EQ(parts.size(), 2u);
  auto module = ir::parse(parts[0].text, path.filename().string());
  ASSERT_TRUE(module.ok()) << module.status().message();
  const std::string before = ir::print(**module);
  ir::Passes::global().find(name)->run(**module);
  const Status verified = ir::verify(**module);
  EXPECT_TRUE(verified.ok()) << verified.message();
  auto wanted = ir::parse(parts[1].text, path.filename().string());
  ASSERT_TRUE(wanted.ok()) << wanted.status().message();
  EXPECT_EQ(ir::print(**module), ir::print(**wanted));
  EXPECT_NE(ir::print(**module), before) << "nothing changed";
}

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& file : fs::directory_iterator(fs::path(__FILE__).parent_path() / "testdata"))
    out.push_back(file.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}
INSTANTIATE_TEST_SUITE_P(Passes, OnText, ::testing::ValuesIn(files()),
                         [](const auto& info) { return info.param; });

// What each pass promises holds from there to the end, whichever other pass is left out.
TEST(Pipeline, KeepsItsPromisesWithoutAnyPass) {
  std::vector<std::string> optional = {""};
  for (const Pass& pass : all_passes())
    if (!pass.required) optional.emplace_back(pass.name);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto graph = op::testing::random_graph(seed);
    const std::string& left_out = optional[seed % optional.size()];
    PipelineOptions options{.disabled = {}, .verify = true, .after = {}};
    if (!left_out.empty()) options.disabled = {left_out};
    std::size_t ran = 0;
    options.after = [&](const pass::Run& run, const ir::Block&) {
      EXPECT_NE(run.pass->name, left_out);
      ++ran;
    };
    (void)run_pipeline(graph.build(), nullptr, options);
    EXPECT_GT(ran, 20u);
  }
}

}  // namespace
}  // namespace strata::pass
