#include "strata/ir/export/jax_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"
#include "strata/ir/bytecode/reader.h"

namespace strata::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string bytes_of(const std::string& name) {
  return *read_file((std::filesystem::path(__FILE__).parent_path() / "testdata" / name).string());
}

TEST(JaxExport, names_types_and_what_the_program_takes) {
  const std::string bytes = bytes_of("layer.jax");
  ASSERT_TRUE(is_jax_export(bytes));
  Result<JaxExport> e = read_jax_export(bytes);
  ASSERT_TRUE(e.ok()) << e.status().message();
  EXPECT_EQ(e->function, "layer");
  EXPECT_THAT(e->inputs, ElementsAre("[0]['b']", "[0]['w']", "[1]", "[2]", "['scale']"));
  EXPECT_THAT(e->kept, ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(e->input_types[1], Type(DType::f32, Shape::of({2, 3})));
  EXPECT_EQ(e->input_types[3], Type(DType::i8, Shape::of({2})));
  EXPECT_THAT(e->outputs, ElementsAre("['sums'][0]", "['sums'][1]", "['y']"));
  EXPECT_THAT(e->platforms, ElementsAre("cpu"));
  EXPECT_TRUE(is_bytecode(e->program));
}

TEST(JaxExport, open_dimensions_and_keys) {
  Result<JaxExport> open = read_jax_export(bytes_of("open.jax"));
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->input_types[0], Type(DType::f32, Shape({Dim::symbolic("b"), 2})));
  EXPECT_EQ(open->output_types[0], Type(DType::f32, Shape({Dim::symbolic("2*b"), 2})));
  Result<JaxExport> key = read_jax_export(bytes_of("key.jax"));
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->input_types[0], Type(DType::ui32, Shape::of({2})));
}

TEST(JaxExport, at_any_address) {
  const std::string bytes = bytes_of("platforms.jax");
  for (std::size_t shift = 1; shift < 8; ++shift) {
    const std::string moved = std::string(shift, ' ') + bytes;
    Result<JaxExport> e = read_jax_export(std::string_view(moved).substr(shift));
    ASSERT_TRUE(e.ok()) << e.status().message();
    EXPECT_THAT(e->platforms, ElementsAre("tpu", "cpu"));
    EXPECT_TRUE(is_bytecode(e->program));
  }
}

TEST(JaxExport, other_bytes_are_none) {
  for (std::string_view bytes : {"", "abc", "module {\n}\n", "ML\xefR\x0d", "\x08\0\0\0\0\0\0\0"})
    EXPECT_FALSE(is_jax_export(bytes));
  EXPECT_THAT(read_jax_export("module {}", "x.jax").status().message(),
              HasSubstr("x.jax: no whole export of JAX"));
}

}  // namespace
}  // namespace strata::ir
