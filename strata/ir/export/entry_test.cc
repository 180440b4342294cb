#include "strata/ir/export/entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"
#include "strata/ir/testing/upstream_ops.h"
#include "strata/ir/verify.h"

namespace strata::ir {
namespace {

using ::testing::HasSubstr;

/// The entry of an export as changed.
Result<std::unique_ptr<Module>> read(const std::string& name, std::string_view platform,
                                     void (*change)(JaxExport&) = nullptr) {
  const std::string bytes =
      *read_file((std::filesystem::path(__FILE__).parent_path() / "testdata" / name).string());
  Result<JaxExport> e = read_jax_export(bytes, name);
  if (!e) return e.status();
  if (change != nullptr) change(*e);
  Result<std::unique_ptr<Module>> module =
      read_exported(*e, name, platform, {.registry = &testing::upstream_ops()});
  if (module) EXPECT_TRUE(verify(**module).ok()) << verify(**module).message();
  return module;
}

/// What the program is told to be the number of its platform.
std::int64_t number(const Module& m) {
  return m.entry()->body.ops().front()->attr<Literal>("value").integer(0);
}

TEST(ExportedEntry, takes_every_input) {
  const auto layer = read("layer.jax", "cpu");
  ASSERT_TRUE(layer.ok()) << layer.status().message();
  const Block& body = (*layer)->entry()->body;
  ASSERT_EQ(body.num_arguments(), 5);  // of which the program uses four
  EXPECT_EQ(body.argument(1)->type(), Type(DType::f32, {2, 3}));
  EXPECT_EQ(body.argument(3)->type(), Type(DType::i8, {2}));
  EXPECT_EQ((*layer)->entry()->arg_attrs.size(), 5u);
}

TEST(ExportedEntry, knows_its_platform) {
  const auto tpu = read("platforms.jax", "tpu"), cpu = read("platforms.jax", "cpu");
  ASSERT_TRUE(tpu.ok() && cpu.ok());
  EXPECT_EQ((*cpu)->entry()->body.num_arguments(), 1);
  EXPECT_EQ(number(**tpu), 0);
  EXPECT_EQ(number(**cpu), 1);
  const auto any = read("platforms.jax", "cuda", [](JaxExport& e) { e.any_platform = true; });
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(number(**any), 0);
  const auto none = read("platforms.jax", "cuda");
  EXPECT_EQ(none.status().code(), Code::unsupported);
  EXPECT_THAT(none.status().message(),
              HasSubstr("platforms.jax: exported for tpu, cpu, not for cuda: export it with "
                        "platforms=[\"cuda\", \"tpu\", \"cpu\"]"));
}

TEST(ExportedEntry, that_does_not_fit_is_refused) {
  auto said = [](const char* name, void (*change)(JaxExport&)) {
    return std::string(read(name, "cpu", change).status().message());
  };
  EXPECT_EQ(said("layer.jax", [](JaxExport& e) { e.kept.pop_back(); }),
            "layer.jax: @main has 4 arguments and 3 results, not 3 and 3");
  EXPECT_EQ(said("layer.jax", [](JaxExport& e) { e.outputs.pop_back(); }),
            "layer.jax: @main has 4 arguments and 3 results, not 4 and 2");
  EXPECT_EQ(said("layer.jax", [](JaxExport& e) { e.ordered_effects.push_back("print"); }),
            "layer.jax: ordered effects: print");
  EXPECT_EQ(said("layer.jax",
                 [](JaxExport& e) {
                   e.platforms.insert(e.platforms.begin(), "tpu");
                   e.kept.pop_back();
                 }),
            "layer.jax: @main takes tensor<3xf32> for the number of a platform");
}

}  // namespace
}  // namespace strata::ir
