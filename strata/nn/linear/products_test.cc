// Layers that are products: laws, what errors say, and the door by which products go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/conv/conv_transpose.h"
#include "strata/nn/linear/einsum.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/linear_general.h"
#include "strata/nn/linear/lora.h"
#include "strata/nn/transform/grad.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;

Array numbers(const Sizes& shape) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  return numpy::reshape(numpy::sin(numpy::arange(count).astype(float32)), shape);
}
void expect_close(const Array& a, const Array& b) {
  ASSERT_EQ(a.type(), b.type());
  EXPECT_LT(numpy::max(numpy::abs(a - b)).item<float>(), 1e-5f);
}
template <class F>
void expect_error(F f, const std::vector<std::string>& says) {
  try {
    (void)f();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    for (const std::string& part : says) EXPECT_THAT(std::string(e.what()), HasSubstr(part));
  }
}

class Products : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  Rngs rngs{0};
};

TEST_F(Products, LinearGeneralOfOneAxisIsLinear) {
  Rngs again(0);
  const LinearGeneral general(4, 3, rngs);
  const Linear linear(4, 3, again);
  const Array x = numbers({2, 5, 4});
  EXPECT_EQ(general(x).to_vector<float>(), linear(x).to_vector<float>());
}

TEST_F(Products, LinearGeneralOfBatchesIsALayerForEach) {
  const LinearGeneral general(4, 3, rngs, {.batch_sizes = {2}});
  const Array x = numbers({2, 5, 4}), y = general(x);
  for (std::int64_t i = 0; i < 2; ++i)
    expect_close(y[i], Linear(Param(general.kernel[i]), Param((*general.bias)[i]))(x[i]));
}

TEST_F(Products, EinsumOfMatricesIsLinear) {
  Rngs again(0);
  const Einsum einsum("...i,ij->...j", {4, 3}, rngs, {.bias_shape = {{3}}});
  const Linear linear(4, 3, again);
  const Array x = numbers({2, 5, 4});
  expect_close(einsum(x), linear(x));
}

TEST_F(Products, EinsumsDotsStandForAxesOfTheKernelToo) {
  Einsum einsum("b...i,...ij->b...j", {5, 4, 3}, rngs, {.bias_shape = {{5, 3}}});
  einsum.bias = numbers({5, 3});
  const Array x = numbers({2, 5, 4});
  expect_close(einsum(x), numpy::einsum("bni,nij->bnj", {x, einsum.kernel}) + *einsum.bias);
}

TEST_F(Products, ConvOfOneByOneIsLinear) {
  const Conv conv(4, 3, {1, 1}, rngs);
  const Array x = numbers({2, 5, 6, 4});
  expect_close(conv(x), Linear(Param(numpy::reshape(conv.kernel, {4, 3})), conv.bias)(x));
}

TEST_F(Products, TransposedConvIsTheDerivativeOfConv) {
  for (const auto& [padding, size] : {std::pair("SAME", 8), std::pair("VALID", 7)}) {
    const Conv conv(2, 3, {3, 2}, rngs, {.strides = {2, 1}, .padding = padding, .use_bias = false});
    ConvTranspose back(
        3, 2, {3, 2}, rngs,
        {.strides = {2, 1}, .padding = padding, .use_bias = false, .transpose_kernel = true});
    back.kernel = conv.kernel;
    const Array x = numbers({1, size, 5, 2}), y = conv(x), cotangent = numbers(y.shape());
    const auto [again, pullback] = nn::vjp([&](const Array& v) { return conv(v); }, x);
    expect_close(back(cotangent), std::get<0>(pullback(cotangent)));
  }
}

TEST_F(Products, AMaskLeavesWeightsOut) {
  const Array mask = numpy::reshape(numpy::arange(24) % 2, {3, 2, 4}).astype(float32);
  Conv conv(2, 4, 3, rngs, {.mask = mask});
  const Array x = numbers({2, 5, 2}), masked = conv(x);
  conv.kernel = conv.kernel * mask;
  conv.mask.reset();
  EXPECT_EQ(masked.to_vector<float>(), conv(x).to_vector<float>());
}

TEST_F(Products, EmbedReadsTheNearestRowOrNaN) {
  const Array tokens = array({-1, 0, 6, 7});
  const Embed flax(7, 3, rngs);
  const Embed nearest(flax.embedding);
  const Array a = flax(tokens), b = nearest(tokens);
  EXPECT_EQ(a[0].to_vector<float>(), flax.embedding[6].to_vector<float>());
  EXPECT_EQ(b[0].to_vector<float>(), flax.embedding[0].to_vector<float>());
  EXPECT_EQ(a[2].to_vector<float>(), b[2].to_vector<float>());
  EXPECT_TRUE(numpy::all(numpy::isnan(a[3])).item<bool>());
  EXPECT_EQ(b[3].to_vector<float>(), flax.embedding[6].to_vector<float>());
}

TEST_F(Products, LoRALinearBeginsAsLinear) {
  Rngs again(0);
  const LoRALinear adapted(4, 3, 2, rngs);
  const Linear linear(4, 3, again);
  const Array x = numbers({5, 4});
  EXPECT_EQ(adapted(x).to_vector<float>(), linear(x).to_vector<float>());
  EXPECT_THAT(tree::of(adapted).names(),
              testing::ElementsAre("kernel", "bias", "lora/lora_a", "lora/lora_b"));
  LoRALinear model = adapted;
  const auto loss = [](const LoRALinear& m, const Array& v) { return numpy::sum(m(v)); };
  EXPECT_THAT(nn::grad(loss, of<LoRAParam>())(model, x).names(),
              testing::ElementsAre("lora/lora_a", "lora/lora_b"));
}

/// Records every product that is asked for.
struct Seen : ProductHandler {
  std::vector<std::string> products;
  std::optional<Array> product(const Product& p, const PlainProduct&) override {
    products.push_back(fmt::format("{} {} {}", p.op, p.module_path, p.weight));
    return {};
  }
};
struct Model {
  Embed embed;
  Conv conv;
  LoRALinear head;
  STRATA_FIELDS(embed, conv, head)
  Array operator()(const Array& tokens) const {
    const ModuleScope scope(*this, "Model");
    return head(conv(embed(tokens)));
  }
};

TEST_F(Products, GoByTheDoorWithTheirWeights) {
  const Model model{Embed(7, 4, rngs), Conv(4, 4, 3, rngs, {.mask = numpy::ones({3, 4, 4})}),
                    LoRALinear(4, 2, 1, rngs)};
  Seen seen;
  {
    const ProductScope scope(seen);
    (void)model(array({{1, 2, 3}}));
  }
  EXPECT_THAT(seen.products,
              testing::ElementsAre("take embed embedding", "conv_general_dilated conv kernel",
                                   "dot_general head kernel", "dot_general head/lora lora_a",
                                   "dot_general head/lora lora_b"));
}

TEST_F(Products, ErrorsNameTheNumbers) {
  const LinearGeneral general({3, 4}, 2, rngs, {.axis = {-2, -1}});
  expect_error([&] { return general(numbers({2, 5, 4})); }, {"LinearGeneral", "5 features", "3"});
  expect_error([&] { return general(numbers({4})); }, {"f32[4]", "axis -2"});
  expect_error([&] { return LinearGeneral(3, 2, rngs, {.axis = {0, 1}}); }, {"1", "2 axes"});
  expect_error([&] { return Einsum("ij,jk", {3, 2}, rngs); }, {"ij,jk"});
  expect_error([&] { return Conv(3, 4, 3, rngs, {.feature_group_count = 2}); },
               {"3 input and 4 output", "2 groups"});
  expect_error([&] { return Conv(2, 4, {3, 3}, rngs, {.padding = "CAUSAL"}); }, {"CAUSAL", "2"});
  expect_error([&] { return Conv(2, 4, {3, 3}, rngs, {.padding = {1, 2, 3}}); }, {"3", "2 axes"});
  expect_error([&] { return Conv(2, 4, 3, rngs, {.mask = numpy::ones({3, 2})}); },
               {"f32[3,2]", "f32[3,2,4]"});
  const Conv conv(2, 4, {3, 3}, rngs);
  expect_error([&] { return conv(numbers({4, 4, 3})); }, {"3 features", "f32[4,4,3]", "2"});
  expect_error([&] { return conv(numbers({2})); }, {"f32[2]", "1 axes", "3 at least"});
  expect_error([&] { return ConvTranspose(2, 4, 3, rngs, {.padding = "REFLECT"}); }, {"REFLECT"});
  const Embed embed(7, 3, rngs);
  expect_error([&] { return embed(numbers({2})); }, {"Embed", "f32[2]"});
  expect_error([&] { return embed.attend(numbers({2})); }, {"f32[2]", "3 features"});
  expect_error([&] { return LoRALinear(4, 3, 2, rngs)(numbers({2, 3})); },
               {"LoRALinear", "3 features", "takes 4"});
}

}  // namespace
}  // namespace strata::nn
