// How convolutions of lax.h are called.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"
#include "strata/api/lax/convolution.h"

namespace strata {
namespace {

lax::WindowPadding padding_of(const testing::Call& c, const char* name = "padding") {
  if (c.option(name).is_string()) return c.text(name);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const auto& p : c.option(name)) pairs.emplace_back(p[0], p[1]);
  return pairs;
}
std::array<std::string, 3> letters_of(const testing::Call& c) {
  return c.option("dimension_numbers").get<std::array<std::string, 3>>();
}
lax::ConvGeneralDilatedDimensionNumbers dims_of(const testing::Call& c) {
  if (!c.has("dimension_numbers")) return {};
  const auto [lhs, rhs, out] = letters_of(c);
  return {lhs, rhs, out};
}
lax::ConvGeneralDilated options_of(const testing::Call& c) {
  return {.lhs_dilation = c.integers("lhs_dilation"),
          .rhs_dilation = c.integers("rhs_dilation"),
          .dimension_numbers = dims_of(c),
          .feature_group_count = c.integer("feature_group_count", 1),
          .batch_group_count = c.integer("batch_group_count", 1),
          .preferred_element_type = c.dtype("preferred_element_type")};
}
lax::ConvPatches patches_of(const testing::Call& c) {
  return {.lhs_dilation = c.integers("lhs_dilation"),
          .rhs_dilation = c.integers("rhs_dilation"),
          .dimension_numbers = dims_of(c)};
}
std::vector<Array> lists(const lax::ConvDimensionNumbers& d) {
  return {lax::shape_as_value(d.lhs_spec), lax::shape_as_value(d.rhs_spec),
          lax::shape_as_value(d.out_spec)};
}
std::vector<Array> permutations(const testing::Call& c) {
  const auto [lhs, rhs, out] = letters_of(c);
  return lists(lax::conv_general_permutations(lhs, rhs, out));
}

STRATA_GOLDEN("lax.conv_general_dilated",
              lax::conv_general_dilated(c.x(0), c.x(1), c.integers("window_strides"), padding_of(c),
                                        options_of(c)));
STRATA_GOLDEN("lax.conv", lax::conv(c.x(0), c.x(1), c.integers("window_strides"), c.text("padding"),
                                    lax::Precision::HIGHEST, c.dtype("preferred_element_type")));
STRATA_GOLDEN("lax.conv_with_general_padding",
              lax::conv_with_general_padding(c.x(0), c.x(1), c.integers("window_strides"),
                                             padding_of(c), c.integers("lhs_dilation"),
                                             c.integers("rhs_dilation")));
STRATA_GOLDEN("lax.conv_transpose",
              lax::conv_transpose(c.x(0), c.x(1), c.integers("strides"), padding_of(c),
                                  {.rhs_dilation = c.integers("rhs_dilation"),
                                   .dimension_numbers = dims_of(c),
                                   .transpose_kernel = c.flag("transpose_kernel"),
                                   .use_consistent_padding = c.flag("use_consistent_padding")}));
STRATA_GOLDEN("lax.conv_general_dilated_patches",
              lax::conv_general_dilated_patches(c.x(0), c.integers("filter_shape"),
                                                c.integers("window_strides"), padding_of(c),
                                                patches_of(c)));
STRATA_GOLDEN("lax.conv_general_dilated_local",
              lax::conv_general_dilated_local(c.x(0), c.x(1), c.integers("window_strides"),
                                              padding_of(c), c.integers("filter_shape"),
                                              patches_of(c)));
STRATA_GOLDEN("lax.conv_general_permutations", permutations(c));
STRATA_GOLDEN("lax.conv_dimension_numbers",
              lists(lax::conv_dimension_numbers(c.integers("lhs_shape"), c.integers("rhs_shape"),
                                                dims_of(c))));
STRATA_GOLDEN("lax.conv_shape_tuple",
              lax::shape_as_value(lax::conv_shape_tuple(
                  c.integers("lhs_shape"), c.integers("rhs_shape"), c.integers("strides"),
                  padding_of(c, "pads"), c.integer("batch_group_count", 1))));
STRATA_GOLDEN("lax.conv_general_shape_tuple",
              lax::shape_as_value(lax::conv_general_shape_tuple(c.integers("lhs_shape"),
                                                                c.integers("rhs_shape"),
                                                                c.integers("window_strides"),
                                                                padding_of(c), dims_of(c))));
STRATA_GOLDEN("lax.conv_transpose_shape_tuple",
              lax::shape_as_value(lax::conv_transpose_shape_tuple(c.integers("lhs_shape"),
                                                                  c.integers("rhs_shape"),
                                                                  c.integers("window_strides"),
                                                                  padding_of(c), dims_of(c))));

}  // namespace
}  // namespace strata
