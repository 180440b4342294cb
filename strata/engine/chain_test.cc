// Samplers of a chain beside llama.cpp's own results, and plain twins of what has no original.
#include "strata/engine/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "strata/base/error.h"

namespace strata::engine::chain {
namespace {

using nlohmann::json;

const json& golden() {
  static const json all = [] {
    std::ifstream file(std::filesystem::path(__FILE__).parent_path() /
                       "testdata/llama_samplers.json");
    return json::parse(file);
  }();
  return all;
}

std::vector<int> kept(Candidates all) {
  std::vector<int> out;
  for (const Candidate& c : all) out.push_back(c.token);
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Chain, KeepsWhatLlamaCppKeeps) {
  ASSERT_GE(golden()["cuts"].size(), 20u);
  for (const json& cut : golden()["cuts"])
    for (std::size_t row = 0; row < golden()["logits"].size(); ++row) {
      Candidates all = candidates(golden()["logits"][row].get<std::vector<float>>());
      if (cut.contains("top_n_sigma")) keep_top_n_sigma(all, cut["top_n_sigma"]);
      if (cut.contains("typical_p")) keep_typical(all, cut["typical_p"]);
      if (cut.contains("top_k")) keep_top_k(all, cut["top_k"]);
      if (cut.contains("top_p")) keep_top_p(all, cut["top_p"]);
      if (cut.contains("min_p")) keep_min_p(all, cut["min_p"]);
      if (cut.contains("xtc_threshold")) leave_out_top(all, cut["xtc_threshold"]);
      if (cut.contains("temperature"))
        at_temperature(
            all, dynamic_temperature(all, cut["temperature"], cut.value("dynatemp_range", 0.0),
                                     cut.value("dynatemp_exponent", 1.0)));
      EXPECT_EQ(kept(all), cut["kept"][row].get<std::vector<int>>()) << cut.dump().substr(0, 60);
      if (!cut.contains("logits")) continue;
      std::sort(all.begin(), all.end(),
                [](const Candidate& a, const Candidate& b) { return a.token < b.token; });
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double want = cut["logits"][row][i];
        ASSERT_NEAR(static_cast<double>(all[i].logit), want, 1e-5 * std::max(1.0, std::abs(want)));
      }
    }
}

Chain dry_of(const json& how) {
  Chain out;
  out.dry_multiplier = how["dry_multiplier"], out.dry_base = how["dry_base"];
  out.dry_allowed_length = how["dry_allowed_length"];
  out.dry_penalty_last_n = how["dry_penalty_last_n"];
  out.dry_breakers = how["breakers"].get<std::vector<std::vector<std::int32_t>>>();
  return out;
}

TEST(Chain, DryTakesWhatLlamaCppTakes) {
  std::size_t with_penalties = 0;
  for (const json& how : golden()["dry"]) {
    Candidates all = candidates(std::vector<float>(61, 0.0f));
    dry(all, dry_of(how), how["tokens"].get<std::vector<std::int32_t>>());
    json taken = json::array();
    for (const Candidate& c : all)
      if (c.logit != 0) taken.push_back({c.token, -c.logit});
    ASSERT_EQ(taken.size(), how["taken"].size()) << how.dump();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i][0], how["taken"][i][0]);
      const double want = how["taken"][i][1];
      EXPECT_NEAR(taken[i][1].get<double>(), want, 2e-6 * want);
    }
    with_penalties += !taken.empty();
  }
  EXPECT_GE(with_penalties, 15u);
}

/// DRY as its description says it: for each token every place of it, and how much of the text's end
/// stands before that place.
std::vector<double> plain_dry(const Chain& chain, const std::vector<std::int32_t>& text,
                              std::int32_t vocabulary) {
  std::vector<double> out(static_cast<std::size_t>(vocabulary));
  std::size_t most = text.size();
  for (std::size_t i = 0; i < text.size() && most == text.size(); ++i)
    if (text[text.size() - 1 - i] == chain.dry_breakers.at(0).at(0)) most = i;
  for (std::size_t at = 1; at < text.size(); ++at) {
    std::size_t length = 0;
    while (length < std::min(at, most) && text[at - 1 - length] == text[text.size() - 1 - length])
      ++length;
    if (static_cast<std::int64_t>(length) < chain.dry_allowed_length) continue;
    if (text[at] == chain.dry_breakers[0][0]) continue;
    double& most_so_far = out[static_cast<std::size_t>(text[at])];
    most_so_far =
        std::max(most_so_far,
                 chain.dry_multiplier *
                     std::pow(chain.dry_base, static_cast<double>(length) -
                                                  static_cast<double>(chain.dry_allowed_length)));
  }
  return out;
}

TEST(Chain, DryIsThePlainOne) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Chain chain;
    chain.dry_multiplier = 0.8;
    chain.dry_allowed_length = 1 + static_cast<std::int64_t>(random() % 3);
    chain.dry_breakers = {{4}};
    std::vector<std::int32_t> text;
    const std::size_t size = 5 + random() % 60;
    while (text.size() < size) text.push_back(static_cast<std::int32_t>(random() % 5));
    if (static_cast<std::int64_t>(text.size()) <= chain.dry_allowed_length) continue;
    const std::vector<double> want = plain_dry(chain, text, 5);
    std::size_t behind = 0;
    while (behind < text.size() && text[text.size() - 1 - behind] != 4) ++behind;
    Candidates all = candidates(std::vector<float>(5, 0.0f));
    dry(all, chain, text);
    for (const Candidate& c : all)
      EXPECT_NEAR(static_cast<double>(-c.logit), want[static_cast<std::size_t>(c.token)], 1e-4);
  }
}

TEST(Chain, MirostatKeepsWhatLlamaCppKeepsStepByStep) {
  const json& logits = golden()["logits"];
  for (const json& run : golden()["mirostat"]) {
    Chain chain;
    chain.mirostat_tau = run["tau"], chain.mirostat_eta = run["eta"];
    double mu = 2 * chain.mirostat_tau;
    for (std::size_t turn = 0; turn < run["steps"].size(); ++turn) {
      const json& step = run["steps"][turn];
      Candidates all = candidates(logits[turn % logits.size()].get<std::vector<float>>());
      keep_mirostat(all, run["version"], mu, 61);
      ASSERT_EQ(kept(all), step["kept"].get<std::vector<int>>())
          << run["version"] << " " << run["tau"] << " at " << turn;
      mu = mirostat_next(all, step["drawn"], chain, mu);
    }
  }
}

TEST(Chain, OneCandidateStaysAlways) {
  const std::vector<float> flat(9, 1.0f);
  for (int version : {1, 2})
    for (double mu : {-50.0, 0.0, 50.0}) {
      Candidates all = candidates(flat);
      keep_mirostat(all, version, mu, 9);
      EXPECT_GE(all.size(), 1u);
    }
  Candidates all = candidates(flat);
  keep_top_n_sigma(all, 1e-9), keep_typical(all, 0), keep_top_p(all, 0), keep_min_p(all, 1);
  leave_out_top(all, 0), at_temperature(all, 0);
  EXPECT_EQ(kept(all).size(), 1u);
  Candidates none;
  at_temperature(none, 0), keep_typical(none, 0.5);
  EXPECT_TRUE(none.empty());
}

TEST(Chain, NamesAndRanges) {
  Chain::Stage stage;
  for (const char* name : {"penalties", "dry", "top_n_sigma", "top_k", "typ_p", "typical_p",
                           "top_p", "min_p", "xtc", "temperature", "temp", "top-k"})
    EXPECT_TRUE(stage_of(name, stage)) << name;
  EXPECT_FALSE(stage_of("infill", stage));
  const auto message = [](const Chain& c) {
    try {
      check(c, 10);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({}), "");
  Chain chain;
  chain.typical_p = 1.5;
  EXPECT_THAT(message(chain), testing::HasSubstr("typical_p must be in [0, 1], got 1.5"));
  chain = {};
  chain.mirostat = 3;
  EXPECT_THAT(message(chain), testing::HasSubstr("mirostat must be 0, 1 or 2, got 3"));
  chain = {};
  chain.dry_base = 0.5;
  EXPECT_THAT(message(chain), testing::HasSubstr("dry_base must be in [1, 1000000], got 0.5"));
  chain = {};
  chain.dry_breakers = {{3}, {11}};
  EXPECT_THAT(message(chain), testing::HasSubstr("token 11 is not in [0, 10)"));
  chain = {};
  chain.xtc_probability = std::nan("");
  EXPECT_THAT(message(chain), testing::HasSubstr("xtc_probability"));
}

}  // namespace
}  // namespace strata::engine::chain
