#include "strata/embed/c_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::embed {
namespace {

using ::testing::ElementsAre;

TEST(CNames, identifiers) {
  EXPECT_TRUE(is_identifier("digits_2"));
  for (const char* bad : {"", "2d", "a-b", "class", "restrict", "a b", "x\xc3\xa4"})
    EXPECT_FALSE(is_identifier(bad)) << bad;
  EXPECT_EQ(identifier_of("my-model.v2"), "my_model_v2");
  EXPECT_EQ(identifier_of("<lambda>"), "lambda");
  for (const char* none : {"main", "2nd", "", "--", "int"})
    EXPECT_EQ(identifier_of(none), "") << none;
}

TEST(CNames, fields_come_from_jaxs_paths) {
  EXPECT_THAT(field_names({"[0]['w']", "[0]['b']", "[1]"}, {""}),
              ElementsAre("w", "b", "in1", "out"));
  EXPECT_THAT(field_names({"0", "1"}, {"0"}), ElementsAre("in0", "in1", "out0"));
  EXPECT_THAT(field_names({"['image']", "[0].layers[3].kernel"}, {"['image']"}),
              ElementsAre("image", "layers_3_kernel", "image_2"));
}

TEST(CNames, fields_differ_and_are_no_keywords) {
  EXPECT_THAT(field_names({"[0]['w']", "[1]['w']", "['int']", "[2]['int']"}, {}),
              ElementsAre("in0_w", "in1_w", "int_", "in2_int"));
  EXPECT_THAT(field_names({"['a b']", "['a_b']", "['\xc3\xa4']", "['__x']"}, {"[0]", "[0]"}),
              ElementsAre("a_b", "a_b_2", "in", "in_x", "out0", "out0_2"));
}

}  // namespace
}  // namespace strata::embed
