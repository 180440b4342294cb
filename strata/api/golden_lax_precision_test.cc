// How what functions and products are told of their precision is called; and that programs say it.
#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;
using Accurate = Array (*)(const Operand&, const lax::Accuracy&);

Array accurate(const Call& c, const lax::Accuracy& accuracy) {
  static const std::map<std::string, Accurate> functions = {
      {"exp", lax::exp},     {"exp2", lax::exp2}, {"expm1", lax::expm1},       {"log", lax::log},
      {"log1p", lax::log1p}, {"tanh", lax::tanh}, {"logistic", lax::logistic}, {"sin", lax::sin},
      {"cos", lax::cos},     {"sqrt", lax::sqrt}, {"rsqrt", lax::rsqrt},       {"cbrt", lax::cbrt},
      {"tan", lax::tan}};
  return functions.at(c.text("function"))(c.x(0), accuracy);
}

lax::DotAlgorithmPreset preset(const std::string& name) {
  for (int i = 0;; ++i)
    if (const auto p = static_cast<lax::DotAlgorithmPreset>(i); lax::name(p) == name) return p;
}

const lax::DotDimensionNumbers kMatrices{
    .lhs_contracting = {1}, .rhs_contracting = {0}, .lhs_batch = {}, .rhs_batch = {}};
Array product(const Call& c, const lax::DotPrecision& precision) {
  return lax::dot_general(c.x(0), c.x(1), kMatrices,
                          {.precision = precision, .preferred_element_type = c.dtype()});
}
lax::DotAlgorithm algorithm(const Call& c) {
  return {.lhs_precision_type = *c.dtype("lhs"),
          .rhs_precision_type = *c.dtype("rhs"),
          .accumulation_type = *c.dtype("sum"),
          .lhs_component_count = c.integer("lhs_component_count", 1),
          .rhs_component_count = c.integer("rhs_component_count", 1),
          .num_primitive_operations = c.integer("num_primitive_operations", 1),
          .allow_imprecise_accumulation = c.flag("allow_imprecise_accumulation")};
}

STRATA_GOLDEN("lax.AccuracyMode",
              accurate(c, c.text("mode") == "HIGHEST" ? lax::AccuracyMode::HIGHEST
                                                      : lax::AccuracyMode::DEFAULT));
STRATA_GOLDEN("lax.Tolerance",
              accurate(c, lax::Tolerance(c.number("atol"), c.number("rtol"), c.integer("ulps"))));
STRATA_GOLDEN("lax.DotAlgorithmPreset", product(c, preset(c.text("preset"))));
STRATA_GOLDEN("lax.DotAlgorithm", product(c, algorithm(c)));

TEST(LaxPrecision, IsSaidInPrograms) {
  const Array x = array({{1.0f, 2.0f}, {3.0f, 4.0f}});
  const std::string product =
      jit([](Array v) {
        return lax::dot(v, v, {.precision = lax::DotAlgorithmPreset::BF16_BF16_F32_X3});
      })
          .lower(x)
          .as_text();
  EXPECT_THAT(product,
              ::testing::HasSubstr("algorithm = <lhs_precision_type = bf16, rhs_precision_type = "
                                   "bf16, accumulation_type = f32, lhs_component_count = 1, "
                                   "rhs_component_count = 1, num_primitive_operations = 3, "
                                   "allow_imprecise_accumulation = false>"));
  const std::string exact =
      jit([](Array v) {
        return lax::exp(v, lax::AccuracyMode::HIGHEST) + lax::tan(v, lax::Tolerance(0, 0, 2));
      })
          .lower(x)
          .as_text();
  EXPECT_THAT(exact,
              ::testing::HasSubstr(
                  "stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode "
                  "= #stablehlo.result_accuracy_mode<HIGHEST>>}"));
  EXPECT_THAT(exact, ::testing::HasSubstr("#stablehlo.result_accuracy<ulps = 2, mode = "
                                          "#stablehlo.result_accuracy_mode<TOLERANCE>>"));
}

TEST(LaxPrecision, SameBitsUnderJit) {
  const Array x = array({{1.1f, 2.3f}, {3.7f, 4.9f}});
  auto f = [](Array v) {
    return lax::exp(lax::dot(v, v, {.precision = lax::DotAlgorithmPreset::F16_F16_F16}),
                    lax::AccuracyMode::HIGHEST);
  };
  EXPECT_EQ(f(x).to_vector<float>(), jit(f)(x).to_vector<float>());
}

TEST(LaxPrecision, MistakesSayWhat) {
  const Array x = ones({2, 2});
  EXPECT_THAT(testing::message_of([&] {
                (void)lax::dot(x, x, {.precision = lax::DotAlgorithmPreset::TF32_TF32_F32});
              }),
              ::testing::HasSubstr("CPUs do not have the algorithm TF32_TF32_F32"));
  EXPECT_THAT(testing::message_of([&] {
                (void)lax::dot(
                    x, x,
                    {.precision = lax::DotAlgorithm{float32, float32, float32, 1, 1, 3, true}});
              }),
              ::testing::HasSubstr(
                  "CPUs do not have the algorithm DotAlgorithm{f32, f32, f32, 1, 1, 3, true}"));
  EXPECT_THAT(testing::message_of([] { lax::Tolerance(); }),
              ::testing::HasSubstr("one of atol, rtol and ulps is above 0"));
  EXPECT_THAT(testing::message_of([] { lax::Tolerance(-1); }),
              ::testing::HasSubstr("at least 0, got atol = -1"));
}

}  // namespace
}  // namespace strata
