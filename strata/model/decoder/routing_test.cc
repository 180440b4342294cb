// Routers against MaxText's own functions, against loops over tokens, and what is refused.
#include "strata/model/decoder/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/balance.h"
#include "strata/model/decoder/model.h"

namespace strata::model::decoder {
namespace {

using nlohmann::json;

class RoutingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

/// One token by loops: the slow twin of `route`, without capacity.
struct Slow {
  std::vector<int> experts;
  std::vector<double> weights;
};
Slow slow(const std::vector<double>& logits, const std::vector<double>& bias,
          const ExpertOptions& o) {
  const auto n = static_cast<int>(logits.size());
  std::vector<double> score(logits.size()), by;
  double total = 0;
  for (double x : logits) total += std::exp(x);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double x = logits[i];
    score[i] = o.score == RouterScore::sigmoid         ? 1 / (1 + std::exp(-x))
               : o.score == RouterScore::sqrt_softplus ? std::sqrt(std::log1p(std::exp(x)))
                                                       : std::exp(x) / total;
  }
  by = o.score == RouterScore::softmax && bias.empty() && o.group_score_of == 1 ? logits : score;
  for (std::size_t i = 0; i < bias.size(); ++i) by[i] += bias[i];
  if (o.groups > 1) {
    const int each = n / static_cast<int>(o.groups);
    std::vector<std::pair<double, int>> worth;
    for (int g = 0; g < o.groups; ++g) {
      std::vector<double> in(by.begin() + g * each, by.begin() + (g + 1) * each);
      std::sort(in.rbegin(), in.rend());
      worth.emplace_back(o.group_score_of == 1 ? -in[0] : -(in[0] + in[1]), g);
    }
    std::sort(worth.begin(), worth.end());
    for (std::size_t w = static_cast<std::size_t>(o.active_groups); w < worth.size(); ++w)
      for (int i = 0; i < each; ++i)
        by[static_cast<std::size_t>(worth[w].second * each + i)] = -INFINITY;
  }
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return by[static_cast<std::size_t>(a)] > by[static_cast<std::size_t>(b)];
  });
  Slow out;
  double sum = 0;
  for (std::int64_t k = 0; k < o.active; ++k) {
    out.experts.push_back(order[static_cast<std::size_t>(k)]);
    out.weights.push_back(score[static_cast<std::size_t>(out.experts.back())]);
    sum += out.weights.back();
  }
  for (double& w : out.weights) w = (o.renormalise ? w / sum : w) * o.scaling;
  return out;
}

TEST_F(RoutingTest, IsTheLoopOverTokensOfEveryKind) {
  const Array logits = random::normal(random::key(3), {2, 9, 12}),
              bias = array(
                  {0.3f, -0.2f, 0.f, 0.1f, 0.5f, -0.4f, 0.2f, 0.f, -0.1f, 0.25f, 0.05f, -0.3f});
  const std::vector<float> x = logits.to_vector<float>();
  const std::vector<float> b = bias.to_vector<float>();
  for (RouterScore score : {RouterScore::softmax, RouterScore::sigmoid, RouterScore::sqrt_softplus})
    for (bool biased : {false, true})
      for (std::int64_t groups : {1, 4})
        for (std::int64_t worth : {1, 2})
          for (bool renormalise : {false, true}) {
            const ExpertOptions o{.count = 12,
                                  .active = 3,
                                  .renormalise = renormalise,
                                  .score = score,
                                  .choice_bias = biased,
                                  .scaling = 2.5,
                                  .groups = groups,
                                  .active_groups = groups == 1 ? 1 : 2,
                                  .group_score_of = worth};
            const Routes got = route(logits, biased ? std::optional(bias) : std::nullopt, o);
            const std::vector<int> experts = got.experts.to_vector<std::int32_t>();
            const std::vector<float> weights = got.weights.to_vector<float>();
            for (std::size_t t = 0; t < 18; ++t) {
              const std::vector<double> row(x.begin() + static_cast<std::ptrdiff_t>(12 * t),
                                            x.begin() + static_cast<std::ptrdiff_t>(12 * t + 12));
              const Slow want = slow(
                  row, biased ? std::vector<double>(b.begin(), b.end()) : std::vector<double>(), o);
              for (std::size_t k = 0; k < 3; ++k) {
                EXPECT_EQ(experts[3 * t + k], want.experts[k]) << static_cast<int>(score);
                EXPECT_NEAR(weights[3 * t + k], want.weights[k], 1e-5);
              }
            }
          }
}

RouterScore score_of(const std::string& name) {
  if (name == "sigmoid") return RouterScore::sigmoid;
  if (name == "sqrtsoftplus") return RouterScore::sqrt_softplus;
  return RouterScore::softmax;
}

/// (B, S, E) and the like.
Array from(const json& nested, DType dtype) {
  std::vector<std::int64_t> shape;
  for (const json* at = &nested; at->is_array(); at = &(*at)[0])
    shape.push_back(static_cast<std::int64_t>(at->size()));
  std::vector<float> values;
  const std::function<void(const json&)> walk = [&](const json& at) {
    if (!at.is_array())
      values.push_back(at.is_boolean() ? static_cast<float>(at.get<bool>()) : at.get<float>());
    else
      for (const json& each : at) walk(each);
  };
  walk(nested);
  const auto size = static_cast<std::int64_t>(values.size());
  return astype(reshape(Array(Literal::of(Shape({size}), values)), shape), dtype);
}

TEST_F(RoutingTest, IsMaxTextsInPlacesWeightsDropsAndLosses) {
  const auto file = std::filesystem::path(__FILE__).parent_path() / "testdata" / "routing.json";
  const json golden = json::parse(read_file(file.string()).value());
  ASSERT_EQ(golden["cases"].size(), 9U);
  for (const json& c : golden["cases"]) {
    const json& keys = c["keys"];
    const std::string score = keys["routed_score_func"], block = keys["decoder_block"];
    const Array logits = from(c["logits"], DType::f32);
    const bool biased = keys["routed_bias"];
    const std::int64_t groups =
        std::max(keys["n_routing_groups"].get<std::int64_t>(), std::int64_t{1});
    const ExpertOptions o{
        .count = logits.shape(-1),
        .active = c["k"],
        .renormalise = score != "softmax",
        .score = score_of(score),
        .choice_bias = biased,
        .scaling = keys["routed_scaling_factor"],
        .groups = groups,
        .active_groups = std::max(keys["topk_routing_group"].get<std::int64_t>(), std::int64_t{1}),
        .group_score_of = 2,
        .capacity = std::max(keys["capacity_factor"].get<double>(), 0.)};
    const Routes got =
        route(logits, biased ? std::optional(from(c["bias"], DType::f32)) : std::nullopt, o);
    EXPECT_EQ(got.experts.to_vector<std::int32_t>(),
              from(c["experts"], DType::i32).to_vector<std::int32_t>())
        << keys;
    Array want = from(c["weights"], DType::f32);
    if (o.capacity > 0) {
      const Array kept = from(c["kept"], DType::f32);
      EXPECT_EQ(astype(*got.kept, DType::f32).to_vector<float>(), kept.to_vector<float>()) << keys;
      EXPECT_EQ(places_of(o, logits.shape(1)), c["places"].get<std::int64_t>());
      want = want * kept;
    }
    EXPECT_LE(max(abs(got.weights - want)).item<float>(), 2e-6f) << keys;
    // Losses, with a weight of one; and the step of the bias.
    const Array mask = ones({logits.shape(0), logits.shape(1)});
    BalanceOptions ask{.load_balance = 1};
    const auto rows = static_cast<float>(logits.shape(0));
    if (score != "softmax")  // of which MaxText takes the softmax again
      EXPECT_NEAR(layer_sums(got, o, ask, mask, {}).balance.item<float>() / rows,
                  c["load_balance"].get<float>(), 2e-6f)
          << keys;
    if (c.contains("plain_load_balance")) {
      ask.plain_scores = true;
      EXPECT_NEAR(layer_sums(got, o, ask, mask, {}).balance.item<float>() / rows,
                  c["plain_load_balance"].get<float>(), 2e-6f)
          << keys;
    }
    const RouterSums sums = layer_sums(got, o, {}, mask, {});
    EXPECT_LE(max(abs(updated_bias(zeros({1, o.count}), expand_dims(sums.chosen, 0), 0.001) -
                      expand_dims(from(c["bias_updates"], DType::f32), 0)))
                  .item<float>(),
              1e-9f);
  }
}

TEST_F(RoutingTest, PlacesAreTakenInTheOrderOfTokens) {
  // MaxText's own example: [[0, 1], [1, 3]], one place each.
  const ExpertOptions o{.count = 4, .active = 2, .capacity = 1};
  EXPECT_EQ(places_of(o, 2), 1);
  const Array experts = reshape(array({0, 1, 1, 3}), {1, 2, 2});
  EXPECT_THAT(astype(places_left(experts, o), DType::i32).to_vector<std::int32_t>(),
              testing::ElementsAre(1, 1, 0, 1));
  // A factor above 1 leaves a place or more; large ones drop nothing.
  EXPECT_EQ(places_of({.count = 64, .active = 1, .capacity = 1.25}, 8), 1);
  const Array all = places_left(experts, {.count = 4, .active = 2, .capacity = 4});
  EXPECT_EQ(sum(astype(all, DType::i32)).item<int>(), 4);
}

TEST_F(RoutingTest, ABiasChoosesAndHasNoGradient) {
  const Array logits = random::normal(random::key(1), {2, 4, 6});
  const ExpertOptions o{
      .count = 6, .active = 2, .score = RouterScore::sigmoid, .choice_bias = true};
  const Array bias = zeros({6}), high = array({0.f, 0.f, 9.f, 0.f, 0.f, 0.f});
  const std::vector<int> first = route(logits, high, o).experts.to_vector<std::int32_t>();
  for (std::size_t t = 0; t < first.size(); t += 2) EXPECT_EQ(first[t], 2);
  const Array g =
      grad([&](const Array& b) { return sum(square(route(logits, b, o).weights)); })(bias);
  EXPECT_EQ(max(abs(g)).item<float>(), 0);
}

TEST_F(RoutingTest, LossesAreTheirFormulas) {
  // All even: every loss of balance is 1 whatever E and K are; the z-loss log(E)^2.
  const ExpertOptions o{.count = 4, .active = 2};
  const Array logits = zeros({2, 4, 4});
  Routes r = route(logits, {}, o);
  r.experts = reshape(array({0, 1, 2, 3, 0, 1, 2, 3, 0, 2, 1, 3, 1, 0, 3, 2}), {2, 4, 2});
  const Array mask = ones({2, 4});
  const auto sums = [&](BalanceScope scope, const std::optional<Array>& fractions = {}) {
    return layer_sums(r, o, {.load_balance = 1, .scope = scope, .router_z = 1}, mask, fractions);
  };
  EXPECT_NEAR(sums(BalanceScope::sequence).balance.item<float>() / 2, 1, 1e-6);
  EXPECT_NEAR(sums(BalanceScope::micro_batch).balance.item<float>(), 1, 1e-6);
  const Array even = full({4}, 0.25f);
  EXPECT_NEAR(sums(BalanceScope::global, even).balance.item<float>() / 8, 1, 1e-6);
  EXPECT_NEAR(sums(BalanceScope::sequence).router_z.item<float>() / 8, std::log(4) * std::log(4),
              1e-5);
  // One expert gets all that it can: E (1/2) P_0 + E (1/2) P_1 with all probability there is E / K.
  const Array skewed = array({9.f, 9.f, -90.f, -90.f}) + zeros({2, 4, 4});
  r = route(skewed, {}, o);
  EXPECT_NEAR(sums(BalanceScope::sequence).balance.item<float>() / 2, 2, 1e-5);
  EXPECT_THAT(sums(BalanceScope::sequence).chosen.to_vector<float>(),
              testing::ElementsAre(8, 8, 0, 0));
}

TEST_F(RoutingTest, PaddingCountsNowhere) {
  const ExpertOptions o{.count = 4, .active = 1};
  const Array logits = random::normal(random::key(5), {2, 6, 4});
  const Array mask = concatenate({ones({2, 3}), zeros({2, 3})}, 1);
  const Array half = logits[{slice(), slice(0, 3)}];
  for (BalanceScope scope : {BalanceScope::sequence, BalanceScope::micro_batch}) {
    const BalanceOptions ask{.load_balance = 1, .scope = scope, .router_z = 1};
    const RouterSums all = layer_sums(route(logits, {}, o), o, ask, mask, {}),
                     cut = layer_sums(route(half, {}, o), o, ask, ones({2, 3}), {});
    EXPECT_FLOAT_EQ(all.balance.item<float>(), cut.balance.item<float>());
    EXPECT_FLOAT_EQ(all.router_z.item<float>(), cut.router_z.item<float>());
    EXPECT_EQ(all.chosen.to_vector<float>(), cut.chosen.to_vector<float>());
  }
}

TEST_F(RoutingTest, SaysWhatDoesNotFit) {
  const Array logits = zeros({2, 8});
  EXPECT_THROW((void)route(logits, {}, {.count = 4}), Error);
  EXPECT_THROW((void)route(logits, {}, {.count = 8, .choice_bias = true}), Error);
  EXPECT_THROW((void)route(logits, zeros({8}), {.count = 8}), Error);
  Options o{.family = "moe",
            .vocab_size = 11,
            .width = 8,
            .layers = 2,
            .query_heads = 2,
            .kv_heads = 1,
            .head_dim = 4,
            .mlp_width = 10};
  const auto refused = [&](const ExpertOptions& e, const char* part) {
    o.experts = e;
    try {
      (void)model(o);
      FAIL() << "accepted: " << part;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
  };
  refused({.count = 4, .width = 4, .capacity = -1}, "capacity_factor=-1");
}

}  // namespace
}  // namespace strata::model::decoder
