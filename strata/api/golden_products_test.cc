// How the functions of numpy/products.h and indexing.h are called; names that goldens do not reach.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"
#include "strata/api/numpy/einsum/einsum_path.h"

namespace strata {
namespace {

lax::DotPrecision precision(const testing::Call& c) {
  const std::string said = c.text("precision");
  return said == "BF16_BF16_F32" ? lax::DotPrecision(lax::DotAlgorithmPreset::BF16_BF16_F32)
         : said == "highest"     ? lax::Precision::HIGHEST
                                 : lax::Precision::DEFAULT;
}
lax::DotGeneral product(const testing::Call& c) {
  return {.precision = precision(c), .preferred_element_type = c.dtype("preferred_element_type")};
}
numpy::EinsumOptimize order(const testing::Call& c) {
  return c.has("optimize") && c.option("optimize").is_boolean()
             ? numpy::EinsumOptimize(c.flag("optimize"))
             : numpy::EinsumOptimize(c.text("optimize", "auto"));
}
numpy::TensordotAxes axes_of(const testing::Call& c) {
  if (!c.has("axes") || c.option("axes").is_number()) return c.integer("axes", 2);
  const auto list = [](const nlohmann::json& o) {
    return o.is_array() ? o.get<std::vector<std::int64_t>>()
                        : std::vector<std::int64_t>{o.get<std::int64_t>()};
  };
  return {list(c.option("axes")[0]), list(c.option("axes")[1])};
}

#define STRATA_BINARY(name) STRATA_GOLDEN("numpy." #name, numpy::name(c.x(0), c.x(1)))
#define STRATA_PRODUCT(name) STRATA_GOLDEN("numpy." #name, numpy::name(c.x(0), c.x(1), product(c)))
STRATA_PRODUCT(dot);
STRATA_PRODUCT(vdot);
STRATA_PRODUCT(inner);
STRATA_BINARY(outer);
STRATA_PRODUCT(matmul);
STRATA_BINARY(matvec);
STRATA_BINARY(vecmat);
STRATA_BINARY(kron);
STRATA_GOLDEN("numpy.vecdot", numpy::vecdot(c.x(0), c.x(1), c.integer("axis", -1), product(c)));
STRATA_GOLDEN("numpy.tensordot", numpy::tensordot(c.x(0), c.x(1), axes_of(c), product(c)));
STRATA_GOLDEN("numpy.einsum",
              numpy::einsum(c.text("subscripts"), c.all(),
                            {.optimize = order(c),
                             .precision = precision(c),
                             .preferred_element_type = c.dtype("preferred_element_type")}));
AtOptions at(const testing::Call& c) {
  return {.mode = c.text("mode"), .fill_value = c.array("fill_value")};
}
numpy::TakeAlongAxis along(const testing::Call& c) {
  return {.mode = c.text("mode"),
          .fill_value = c.array("fill_value"),
          .wrap_negative_indices = c.has("wrap_negative_indices")
                                       ? std::optional(c.flag("wrap_negative_indices"))
                                       : std::nullopt};
}
STRATA_GOLDEN("numpy.take", numpy::take(c.x(0), c.x(1), c.maybe("axis"), at(c)));
STRATA_GOLDEN("numpy.take_along_axis",
              numpy::take_along_axis(c.x(0), c.x(1), c.maybe("axis", -1), along(c)));

std::vector<Array> einsum_path(const testing::Call& c) {
  const numpy::EinsumPath found = numpy::einsum_path(c.text("subscripts"), c.all(), order(c));
  std::vector<Array> out;
  for (const std::vector<std::int64_t>& step : found.path) out.push_back(array(step, {}, int32));
  out.push_back(array(
      std::vector<double>{static_cast<double>(found.naive_scaling),
                          static_cast<double>(found.optimized_scaling), found.naive_flop_count,
                          found.optimized_flop_count, found.largest_intermediate},
      {}, float32));
  if (c.has("optimize") && c.option("optimize").is_string() &&
      (c.text("optimize") == "dp" || c.text("optimize") == "optimal"))
    out.push_back(array(std::vector<std::uint8_t>(found.text.begin(), found.text.end())));
  return out;
}
STRATA_GOLDEN("numpy.einsum_path", einsum_path(c));

TEST(Names, ConstantsAreNumPys) {
  testing::shows_names("numpy.pi numpy.e numpy.euler_gamma numpy.inf numpy.nan numpy.newaxis");
  EXPECT_EQ(numpy::pi, std::acos(-1.0));
  EXPECT_EQ(numpy::e, std::exp(1.0));
  EXPECT_NEAR(numpy::euler_gamma, 0.577215664901532860606512, 1e-16);
  EXPECT_TRUE(std::isinf(numpy::inf) && std::isnan(numpy::nan));
  EXPECT_EQ(testing::type_of(numpy::ones({3})[{newaxis, slice()}]), "f32[1,3]");
}

TEST(Names, DTypesMakeArraysOfThem) {
  testing::shows_names(
      "numpy.bfloat16 numpy.bool_ numpy.complex64 numpy.float16 numpy.float32 numpy.int16 "
      "numpy.int32 numpy.int8 numpy.uint16 numpy.uint32 numpy.uint8");
  auto of = [](DType d) { return testing::type_of(numpy::zeros({1}, d)); };
  EXPECT_EQ(of(numpy::bfloat16), "bf16[1]");
  EXPECT_EQ(of(numpy::bool_), "i1[1]");
  EXPECT_EQ(of(numpy::complex64), testing::type_of(numpy::zeros({1}, DType::c64)));
  EXPECT_EQ(of(numpy::float16), "f16[1]");
  EXPECT_EQ(of(numpy::float32), "f32[1]");
  EXPECT_EQ(of(numpy::int16), "i16[1]");
  EXPECT_EQ(of(numpy::int32), "i32[1]");
  EXPECT_EQ(of(numpy::int8), "i8[1]");
  EXPECT_EQ(of(numpy::uint16), "ui16[1]");
  EXPECT_EQ(of(numpy::uint32), "ui32[1]");
  EXPECT_EQ(of(numpy::uint8), "ui8[1]");
}

TEST(Names, WideDTypesNeedTheSwitch) {
  testing::shows_names("numpy.float64 numpy.int64 numpy.uint64 numpy.complex128");
  for (DType d : {numpy::float64, numpy::int64, numpy::uint64, numpy::complex128}) {
    EXPECT_NE(numpy::zeros({1}, d).dtype(), d);
    EnableX64 wide;
    EXPECT_EQ(numpy::zeros({1}, d).dtype(), d);
  }
}

TEST(Names, WhatAnArrayIs) {
  testing::shows_names(
      "numpy.ndim numpy.shape numpy.size numpy.iscomplexobj numpy.isrealobj numpy.promote_types "
      "numpy.result_type numpy.broadcast_shapes numpy.copy numpy.array");
  const Array x = numpy::array({{1.5f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  testing::expect_array(x, "f32[2,3]", {1.5, 2, 3, 4, 5, 6});
  EXPECT_EQ(numpy::ndim(x), 2);
  EXPECT_EQ(numpy::shape(x), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(numpy::size(x), 6);
  EXPECT_FALSE(numpy::iscomplexobj(x));
  EXPECT_TRUE(numpy::isrealobj(x));
  EXPECT_EQ(numpy::promote_types(DType::i8, DType::ui8), DType::i16);
  EXPECT_EQ(numpy::promote_types(DType::bf16, DType::f16), DType::f32);
  EXPECT_EQ(numpy::result_type({numpy::zeros({1}, DType::bf16), 2.0}), DType::bf16);
  EXPECT_EQ(numpy::broadcast_shapes({{2, 1}, {3}}), (std::vector<std::int64_t>{2, 3}));
  EXPECT_NE(testing::message_of([] { numpy::broadcast_shapes({{2}, {3}}); }), "no error");
  testing::expect_array(numpy::copy(x), "f32[2,3]", {1.5, 2, 3, 4, 5, 6});
}

}  // namespace
}  // namespace strata
