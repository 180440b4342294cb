// How attention and products of narrow floats are called; how attention is compiled; derivatives of
// narrow products.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/pipeline.h"

namespace strata {
namespace {

using testing::Call;
using Arrays = std::vector<Array>;

nn::DotProductAttention options_of(const Call& c) {
  nn::DotProductAttention o{.bias = c.array("bias"),
                            .mask = c.array("mask"),
                            .is_causal = c.flag("is_causal"),
                            .query_seq_lengths = c.array("query_seq_lengths"),
                            .key_value_seq_lengths = c.array("key_value_seq_lengths")};
  if (c.has("scale")) o.scale = c.number("scale");
  const std::vector<std::int64_t> window = c.integers("local_window_size");
  if (window.size() == 1) o.local_window_size = window[0];
  if (window.size() == 2) o.local_window_size = nn::Window(window[0], window[1]);
  return o;
}
Arrays attention(const Call& c) {
  if (!c.flag("return_residual"))
    return {nn::dot_product_attention(c.x(0), c.x(1), c.x(2), options_of(c))};
  const auto [out, sums] =
      nn::dot_product_attention_with_residual(c.x(0), c.x(1), c.x(2), options_of(c));
  return {out, sums};
}
STRATA_GOLDEN("nn.dot_product_attention", attention(c));
STRATA_GOLDEN("nn.scaled_matmul",
              nn::scaled_matmul(c.x(0), c.x(1), c.x(2), c.x(3),
                                c.dtype("preferred_element_type").value_or(float32)));
Array general(const Call& c) {
  nn::ScaledDotGeneral o{.preferred_element_type =
                             c.dtype("preferred_element_type").value_or(float32)};
  for (std::size_t i = 0; c.has("mode") && i < 3; ++i)
    o.configs.push_back(nn::get_scaled_dot_general_config(
        c.text("mode"), c.has("scales") ? std::optional(array({c.option("scales")[i].get<float>()}))
                                        : std::nullopt));
  const std::vector<std::int64_t> contracting = c.integers("contracting", {2, 2}),
                                  batch = c.integers("batch", {0, 0});
  lax::DotDimensionNumbers d{.lhs_contracting = {contracting[0]},
                             .rhs_contracting = {contracting[1]},
                             .lhs_batch = {},
                             .rhs_batch = {}};
  if (batch.size() == 2) d.lhs_batch = {batch[0]}, d.rhs_batch = {batch[1]};
  return nn::scaled_dot_general(c.x(0), c.x(1), d, o);
}
STRATA_GOLDEN("nn.scaled_dot_general", general(c));

/// What the compiler says of attention in a program.
std::vector<std::string> said_of(const ir::Block& block) {
  std::vector<std::string> said, out;
  (void)compile::prepare(block, &said);
  for (std::string& line : said)
    if (line.find("attention: ") != std::string::npos) out.push_back(std::move(line));
  return out;
}

TEST(DotProductAttention, IsRecognisedForwardAndWithGradients) {
  const Array q = zeros({2, 64, 8, 16}), k = zeros({2, 64, 2, 16}), bias = zeros({1, 8, 64, 64});
  for (const nn::DotProductAttention& o :
       {nn::DotProductAttention{}, nn::DotProductAttention{.is_causal = true},
        nn::DotProductAttention{.bias = bias, .local_window_size = 3}}) {
    for (const Array& keys : {k, q}) {
      auto f = [&](Array q, Array k, Array v) { return nn::dot_product_attention(q, k, v, o); };
      auto loss = [&](Array q, Array k, Array v) { return sum(f(q, k, v)); };
      for (const std::vector<std::string>& said :
           {said_of(jit(f).lower(q, keys, keys).block()),
            said_of(jit(grad<0, 1, 2>(loss)).lower(q, keys, keys).block())}) {
        ASSERT_EQ(said.size(), 1u) << ::testing::PrintToString(said);
        EXPECT_EQ(said[0].rfind("attention: ", 0), 0u) << said[0];
      }
    }
  }
}

TEST(DotProductAttention, ErrorsSayWhatDoesNotFit) {
  const Array q = zeros({2, 3, 4, 5}), k = zeros({2, 6, 3, 5});
  EXPECT_THAT(
      testing::message_of([&] { (void)nn::dot_product_attention(q, k, k); }),
      ::testing::HasSubstr("dot_product_attention: 4 heads of queries do not share 3 of keys"));
  EXPECT_THAT(testing::message_of([&] { (void)nn::dot_product_attention(q, q, k); }),
              ::testing::HasSubstr("values are like keys, f32[2,3,4,5], got f32[2,6,3,5]"));
  EXPECT_THAT(testing::message_of([&] { (void)nn::dot_product_attention(q, q, q, {.mask = q}); }),
              ::testing::HasSubstr("the mask is boolean, got f32[2,3,4,5]"));
}

TEST(ScaledDotGeneral, ConfigurationsOfModes) {
  testing::shows_names("nn.get_scaled_dot_general_config");
  const auto fp4 = nn::get_scaled_dot_general_config("nvfp4"),
             fp8 = nn::get_scaled_dot_general_config("mxfp8");
  EXPECT_EQ(fp4.block_size, 16);
  EXPECT_EQ(fp4.data_type, DType::f4E2M1FN);
  EXPECT_EQ(fp4.scale_type, DType::f8E4M3FN);
  EXPECT_EQ(fp4.global_scale->to_vector<float>(), std::vector<float>{1});
  EXPECT_EQ(
      nn::get_scaled_dot_general_config("nvfp4", array({0.5f})).global_scale->to_vector<float>(),
      std::vector<float>{0.5});
  EXPECT_EQ(fp8.block_size, 32);
  EXPECT_EQ(fp8.data_type, DType::f8E4M3FN);
  EXPECT_EQ(fp8.scale_type, DType::f8E8M0FNU);
  EXPECT_FALSE(fp8.global_scale);
  EXPECT_THAT(testing::message_of([] { nn::get_scaled_dot_general_config("int8"); }),
              ::testing::HasSubstr("modes are \"nvfp4\" and \"mxfp8\", got \"int8\""));
}

/// Numbers that narrow floats hold have the derivatives of a product.
TEST(ScaledDotGeneral, DerivativesSeeThroughNarrowing) {
  const Array a = numpy::where(random::bernoulli(random::key(1), 0.5, {32, 64}), 1.0f, -2.0f),
              b = numpy::where(random::bernoulli(random::key(2), 0.5, {32, 64}), 0.5f, 4.0f);
  const lax::DotDimensionNumbers d{
      .lhs_contracting = {1}, .rhs_contracting = {1}, .lhs_batch = {}, .rhs_batch = {}};
  const Array weights = numpy::where(random::bernoulli(random::key(3), 0.5, {32, 32}), 1.0f, -1.0f);
  for (const char* mode : {"mxfp8", "nvfp4"}) {
    const nn::ScaledDotGeneral o{.configs =
                                     std::vector(3, nn::get_scaled_dot_general_config(mode))};
    auto by = [&](auto product) {
      return grad<0, 1>([=](Array a, Array b) { return sum(weights * product(a, b)); })(a, b);
    };
    const auto [da, db] = by([&](Array a, Array b) { return nn::scaled_dot_general(a, b, d, o); });
    const auto [wa, wb] = by([&](Array a, Array b) { return lax::dot_general(a, b, d); });
    EXPECT_EQ(da.to_vector<float>(), wa.to_vector<float>()) << mode;
    EXPECT_EQ(db.to_vector<float>(), wb.to_vector<float>()) << mode;
  }
}

}  // namespace
}  // namespace strata
