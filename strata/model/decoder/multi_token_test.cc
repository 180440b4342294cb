// Layers that predict further tokens: documents in a row are as alone, gradients are those of
// differences;
// MaxText's own losses are in train/maxtext/checkpoint_test.cc.
#include "strata/model/decoder/multi_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"

namespace strata::model::decoder {
namespace {

using testing::HasSubstr;

Options some_options(bool experts) {
  Options o{.family = "test",
            .vocab_size = 11,
            .width = 8,
            .layers = 2,
            .query_heads = 2,
            .kv_heads = 1,
            .head_dim = 4,
            .mlp_width = 12};
  o.mtp_layers = 2;
  o.ropes = {{.width = 4}};
  o.initial_deviation = 0.4;
  if (experts)
    o.experts = {.count = 4, .active = 2, .width = 6, .dense_layers = 1, .choice_bias = true};
  return o;
}

class MultiTokenTest : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  static Array tokens(std::int64_t rows, std::int64_t length) {
    return random::randint(random::key(1), {rows, length}, 0, 11);
  }
  static double further(const Model& m, const tree::Tree& params, const Array& row,
                        const std::optional<DocumentsInRows>& packed = {},
                        const std::optional<Array>& weights = {}) {
    const std::int64_t n = row.shape(1) - 1;
    return multi_token_losses(m, params, row[{slice(), slice(0, n)}],
                              row[{slice(), slice(1, n + 1)}], packed, weights)
        .further->item<double>();
  }
};

TEST_P(MultiTokenTest, DocumentsInARowAreAsAlone) {
  const ModelPtr m = model(some_options(GetParam()));
  const tree::Tree params = m->init(random::key(3));
  const Array one = tokens(1, 7), two = random::randint(random::key(2), {1, 6}, 0, 11);
  // 6 tokens of one and 5 of the other, then 2 that are nothing.
  const Array none = zeros({1, 2}, DType::i32);
  const Array read =
      concatenate({one[{slice(), slice(0, 6)}], two[{slice(), slice(0, 5)}], none}, 1);
  const Array targets =
      concatenate({one[{slice(), slice(1, 7)}], two[{slice(), slice(1, 6)}], none}, 1);
  const DocumentsInRows packed{array({{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0, 0}}),
                               array({{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 0, 1}})};
  const Array weights = astype(not_equal(packed.segments, Array(0)), DType::f32);
  const double both =
      multi_token_losses(*m, params, read, targets, packed, weights).further->item<double>();
  const double alone = further(*m, params, one) + further(*m, params, two);
  EXPECT_NEAR(both, alone, 1e-5 * alone);
  // Of n targets, layer k predicts n - k.
  EXPECT_EQ(further_count(weights, packed.segments, 2).item<float>(), 5 + 4 + 4 + 3);
  EXPECT_EQ(further_count(ones({3, 8}), {}, 2).item<float>(), 3 * (7 + 6));
}

TEST_P(MultiTokenTest, GradientsAreThoseOfDifferences) {
  EnableX64 wide;
  Options o = some_options(GetParam());
  o.dtype = DType::f64;
  const ModelPtr m = model(o);
  const tree::Tree params = m->cast(m->init(random::key(3)), DType::f64);
  const Array row = tokens(2, 7);
  const auto loss = [&](const tree::Tree& p) {
    const MultiTokenLosses l =
        multi_token_losses(*m, p, row[{slice(), slice(0, 6)}], row[{slice(), slice(1, 7)}], {});
    return sum(l.losses) + *l.further * 0.7;
  };
  const tree::Tree gradients = jit([&](const tree::Tree& p) { return grad(loss)(p); })(params);
  const auto value = jit(loss);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params.entry(i).name.ends_with("choice_bias")) continue;
    const Array way = random::normal(random::key(static_cast<std::int64_t>(i)),
                                     params.value(i).shape().sizes(), DType::f64);
    const auto at = [&](double by) {
      std::vector<Array> values(params.values().begin(), params.values().end());
      values[i] = values[i] + way * by;
      return value(params.with_values(std::move(values))).item<double>();
    };
    const double slope = (at(kStep) - at(-kStep)) / (2 * kStep);
    EXPECT_NEAR(sum(gradients.value(i) * way).item<double>(), slope,
                1e-6 * std::max(1.0, std::abs(slope)))
        << params.entry(i).name;
  }
}

TEST_P(MultiTokenTest, RoutersOfFurtherLayersStandBehindTheOthers) {
  const Options o = some_options(true);
  const ModelPtr m = model(o);
  const Array row = tokens(3, 9);
  const MultiTokenLosses l = multi_token_losses(
      *m, m->init(random::key(3)), row[{slice(), slice(0, 8)}], row[{slice(), slice(1, 9)}], {}, {},
      RouterAsk{.options = {.load_balance = 1, .scope = BalanceScope::micro_batch}});
  EXPECT_THAT(sum(l.routers->chosen, 1).to_vector<float>(), testing::ElementsAre(0, 48, 48, 48));
  EXPECT_GT(l.routers->balance.item<float>(), 2.0f);
}

TEST_P(MultiTokenTest, ADecoderWithoutThemHasTheLossesOfTheModel) {
  Options o = some_options(GetParam());
  o.mtp_layers = 0;
  const ModelPtr m = model(o);
  const tree::Tree params = m->init(random::key(3));
  const Array row = tokens(2, 6), read = row[{slice(), slice(0, 5)}],
              targets = row[{slice(), slice(1, 6)}];
  const MultiTokenLosses l = multi_token_losses(*m, params, read, targets, {});
  EXPECT_FALSE(l.further);
  EXPECT_EQ(l.losses.to_vector<float>(), m->token_losses(params, read, targets).to_vector<float>());
  EXPECT_THAT([&] { (void)further_accepted(*m, params, read, targets, {}, {}, 1); },
              testing::ThrowsMessage<Error>(HasSubstr("no further layer 1 of 0")));
}

TEST_P(MultiTokenTest, LayersOfSeveralKindsAreRefused) {
  Options o = some_options(GetParam());
  o.windows = {4, 0};
  EXPECT_THAT([&] { check(o); }, testing::ThrowsMessage<Error>(HasSubstr("mtp_num_layers=2")));
  o.windows = {4, 4};
  check(o);
}

INSTANTIATE_TEST_SUITE_P(DenseAndExperts, MultiTokenTest, testing::Bool());

}  // namespace
}  // namespace strata::model::decoder
