#include "strata/ir/bytecode/schema.h"

#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/ir/text/attr_text.h"

namespace strata::ir::bytecode {
namespace {

std::string names(std::string_view dialect, std::string_view name) {
  auto all = properties_of(dialect, name);
  if (!all) return "unknown";
  std::string out;
  for (const Property& p : *all)
    out += (out.empty() ? "" : " ") + std::string(p.is_optional ? "?" : "") + std::string(p.name);
  return out;
}

TEST(Schema, ReleasesAreReadFromTheProducer) {
  EXPECT_EQ(parse_release("StableHLO_v1.17.0"), (Release{1, 17}));
  EXPECT_EQ(parse_release("0.9.3"), (Release{0, 9}));
  for (const char* wrong : {"", "1.17", "MLIR20", "1.17.0x", "-1.2.3"})
    EXPECT_FALSE(parse_release(wrong)) << wrong;
}

TEST(Schema, PropertiesStandInAlphabeticalOrder) {
  EXPECT_EQ(names("vhlo", "compare_v1"), "compare_type comparison_direction");
  EXPECT_EQ(names("vhlo", "add_v1"), "");
  EXPECT_EQ(names("sdy", "named_computation"), "?in_shardings name ?out_shardings");
}

TEST(Schema, VersionsOfAnOperationHaveTheirOwn) {
  EXPECT_EQ(names("vhlo", "tanh_v1"), "");
  EXPECT_EQ(names("vhlo", "tanh_v2"), "result_accuracy");
  EXPECT_NE(names("vhlo", "dynamic_conv_v1").find(" padding "), std::string::npos);
  EXPECT_EQ(names("vhlo", "dynamic_conv_v2").find(" padding "), std::string::npos);
  for (const char* unknown : {"tanh_v3", "add_v2", "add", "tanh_v", "tanh_vx"})
    EXPECT_EQ(names("vhlo", unknown), "unknown") << unknown;
}

TEST(Schema, NamesFollowARule) {
  EXPECT_EQ(operation_of("vhlo", "add_v1"), "stablehlo.add");
  EXPECT_EQ(operation_of("vhlo", "call_v1"), "func.call");
  EXPECT_EQ(operation_of("sdy", "mesh"), "sdy.mesh");
  EXPECT_EQ(vhlo_name("stablehlo.add", {1, 10}), "add_v1");
  EXPECT_EQ(vhlo_name("stablehlo.custom_call", {1, 17}), "custom_call_v1");
  EXPECT_EQ(vhlo_name("stablehlo.custom_call", {1, 18}), "custom_call_v2");
  EXPECT_EQ(vhlo_name("stablehlo.async_start", {1, 14}), std::nullopt);
}

TEST(Schema, DefaultsAreLeftOut) {
  Attrs attrs{{"comparison_direction", Opaque{"#stablehlo<comparison_direction LT>"}},
              {"compare_type", Opaque{"#stablehlo<comparison_type NOTYPE>"}}};
  from_vhlo("stablehlo.compare", attrs);
  EXPECT_EQ(attrs_text(attrs), "{comparison_direction = #stablehlo<comparison_direction LT>}");
  Attrs window{{"window_strides", Literal::of<std::int64_t>({2}, {1, 1})},
               {"window_dimensions", Literal::of<std::int64_t>({2}, {1, 1})}};
  from_vhlo("stablehlo.reduce_window", window);
  EXPECT_EQ(attrs_text(window), "{window_dimensions = array<i64: 1, 1>}");
}

TEST(Schema, ADimensionOfMinusOneIsADefaultOfSortAlone) {
  Attrs sort{{"dimension", std::int64_t{-1}}}, other = sort;
  from_vhlo("stablehlo.sort", sort);
  from_vhlo("stablehlo.concatenate", other);
  EXPECT_TRUE(sort.empty());
  EXPECT_FALSE(other.empty());
}

TEST(Schema, AChannelHasATypeWhereItIsSaid) {
  Attrs none{{"channel_id", std::int64_t{0}}}, one{{"channel_id", std::int64_t{1}}},
      send{{"channel_id", std::int64_t{0}}, {"channel_type", std::int64_t{2}}};
  from_vhlo("stablehlo.all_gather", none);
  from_vhlo("stablehlo.all_gather", one);
  from_vhlo("stablehlo.send", send);
  EXPECT_EQ(attrs_text(none), "{}");
  EXPECT_EQ(attrs_text(one), "{channel_id = 1 : i64, channel_type = 0 : i64}");
  EXPECT_EQ(attrs_text(send), "{channel_id = 0 : i64, channel_type = 2 : i64}");
}

/// "num_primitive_operations" is a part of a product's algorithm, "strides" a slice's list; a sum
/// may carry notes of those names.
TEST(Schema, NotesOfOtherOperationsNamesStay) {
  Attrs notes{{"num_primitive_operations", std::int64_t{1}},
              {"strides", std::string("far")},
              {"channel_id", std::int64_t{0}}},
      sum = notes;
  from_vhlo("stablehlo.add", sum);
  EXPECT_EQ(attrs_text(sum), attrs_text(notes));
  Attrs gathered{{"channel_id", std::int64_t{1}}, {"channel_type", std::int64_t{3}}};
  EXPECT_THROW(from_vhlo("stablehlo.all_gather", gathered),
               Error);  // its channel has a type in text, which would be this note
}

TEST(Schema, AnAttributeOfAnotherKindIsRefused) {
  Attrs attrs{{"permutation", std::string("x")}};
  EXPECT_THROW(from_vhlo("stablehlo.transpose", attrs), Error);
  for (const Attr& none : {Attr(Opaque{"unit"}), Attr(Opaque{"5 : i32"}), Attr(Opaque{"2 : i64"}),
                           Attr(std::int64_t{2})}) {
    Attrs call{{"api_version", none}};
    EXPECT_THROW(from_vhlo("stablehlo.custom_call", call), Error) << attrs_text(call);
  }
  Attrs call{{"api_version", Opaque{"4 : i32"}}};
  EXPECT_NO_THROW(from_vhlo("stablehlo.custom_call", call));
}

}  // namespace
}  // namespace strata::ir::bytecode
