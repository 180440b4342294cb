// How tokens are drawn: transformers' steps from goldens, frequencies, and rows that do not meet.
#include "strata/engine/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "strata/api/index.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::engine {
namespace {

using nlohmann::json;

class SamplingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  static json golden() {
    std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "testdata/sampling.json");
    return json::parse(file);
  }
  static Array logits_of(const json& rows) {
    std::vector<float> all;
    for (const json& row : rows)
      for (const json& x : row) all.push_back(x.get<float>());
    const auto count = static_cast<std::int64_t>(rows.size());
    return array(all, Sizes{count, static_cast<std::int64_t>(all.size()) / count});
  }
  static Array each(double value, std::int64_t rows) { return full({rows}, value, DType::f32); }
  static std::vector<std::vector<int>> kept(const Array& x) {
    std::vector<std::vector<int>> out;
    for (std::int64_t b = 0; b < x.shape(0); ++b) {
      const auto row = x[b].to_vector<float>();
      out.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] > -std::numeric_limits<float>::infinity())
          out.back().push_back(static_cast<int>(i));
    }
    return out;
  }
};

TEST_F(SamplingTest, KeepsWhatTransformersKeeps) {
  const json g = golden();
  const Array logits = logits_of(g["logits"]);
  const std::int64_t rows = logits.shape(0);
  ASSERT_GE(g["cuts"].size(), 10u);
  for (const json& cut : g["cuts"]) {
    Array x = at_temperature(logits, each(cut.value("temperature", 1.0), rows));
    if (cut.contains("min_p")) x = keep_min_p(x, each(cut["min_p"].get<double>(), rows));
    if (cut.contains("top_k")) x = keep_top_k(x, full({rows}, cut["top_k"].get<int>(), DType::i32));
    if (cut.contains("top_p")) x = keep_top_p(x, each(cut["top_p"].get<double>(), rows));
    EXPECT_EQ(kept(x), cut["kept"].get<std::vector<std::vector<int>>>())
        << cut.dump().substr(0, 60);
  }
}

TEST_F(SamplingTest, PenalisesAsTransformersAndVllmDo) {
  const json g = golden();
  const Array logits = logits_of(g["logits"]);
  const std::int64_t rows = logits.shape(0), vocabulary = logits.shape(1);
  std::vector<std::int32_t> prompt(static_cast<std::size_t>(rows * vocabulary)), output = prompt;
  for (std::int64_t b = 0; b < rows; ++b) {
    const auto row = static_cast<std::size_t>(b);
    for (const json& t : g["prompt"][row])
      prompt[row * static_cast<std::size_t>(vocabulary) + t.get<std::size_t>()] = 1;
    for (const json& t : g["output"][row])
      ++output[row * static_cast<std::size_t>(vocabulary) + t.get<std::size_t>()];
  }
  const Seen seen{array(prompt, Sizes{rows, vocabulary}) != 0,
                  array(output, Sizes{rows, vocabulary})};
  for (const json& p : g["penalties"]) {
    const auto got = penalised(logits, seen, each(p["repetition"], rows),
                               each(p["frequency"], rows), each(p["presence"], rows))
                         .to_vector<double>(),
               want = logits_of(p["logits"]).to_vector<double>();
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 2.4e-7 * std::max(1.0, std::abs(want[i]))) << i;
  }
}

TEST_F(SamplingTest, NothingSaidIsNothingDone) {
  const Array logits = random::normal(random::key(1), {3, 50}) * 4.0f;
  const auto bits = logits.to_vector<float>();
  EXPECT_EQ(keep_top_k(logits, zeros({3}, DType::i32)).to_vector<float>(), bits);
  EXPECT_EQ(keep_top_p(logits, ones({3})).to_vector<float>(), bits);
  EXPECT_EQ(keep_min_p(logits, zeros({3})).to_vector<float>(), bits);
  EXPECT_EQ(at_temperature(logits, zeros({3})).to_vector<float>(), bits);
  const Seen seen{ones({3, 50}, DType::i1), ones({3, 50}, DType::i32)};
  EXPECT_EQ(penalised(logits, seen, ones({3}), zeros({3}), zeros({3})).to_vector<float>(), bits);
}

TEST_F(SamplingTest, TiesAtTheBorderStay) {
  const Array logits = array(std::vector<float>{1, 3, 3, 2, 3}, Sizes{1, 5});
  EXPECT_EQ(kept(keep_top_k(logits, array({2}))), (std::vector<std::vector<int>>{{1, 2, 4}}));
  EXPECT_EQ(kept(keep_top_p(logits, array({0.1f}))), (std::vector<std::vector<int>>{{1, 2, 4}}));
  // The greedy token is the first of them.
  const std::vector<Sampling> greedy = {{.temperature = 0}};
  EXPECT_EQ(draw(logits, rows(greedy, std::vector<std::int32_t>{0})).token.item<int>(), 1);
}

TEST_F(SamplingTest, DrawsWithTheProbabilitiesOfWhatIsKept) {
  constexpr std::int64_t kRows = 40000;
  const std::vector<float> one = {0.0f, 1.0f, 2.0f, -1.0f, 1.5f, 0.5f};
  const Array logits = broadcast_to(expand_dims(array(one), 0), {kRows, 6});
  const auto frequencies = [&](const Sampling& s) {
    std::vector<Sampling> all(static_cast<std::size_t>(kRows), s);
    std::vector<std::int32_t> positions;
    for (std::int32_t i = 0; i < kRows; ++i) positions.push_back(i);
    std::vector<double> out(6);
    for (std::int32_t t : draw(logits, rows(all, positions)).token.to_vector<std::int32_t>())
      out[static_cast<std::size_t>(t)] += 1.0 / kRows;
    return out;
  };
  const auto expect = [&](const Sampling& s, const std::vector<bool>& keeps) {
    double total = 0;
    for (std::size_t i = 0; i < 6; ++i)
      if (keeps[i]) total += std::exp(one[i] / s.temperature);
    const auto got = frequencies(s);
    double statistic = 0, freedom = -1;
    for (std::size_t i = 0; i < 6; ++i) {
      const double p = keeps[i] ? std::exp(one[i] / s.temperature) / total : 0;
      if (!keeps[i]) EXPECT_EQ(got[i], 0) << "token " << i;
      if (!keeps[i]) continue;
      statistic += kRows * (got[i] - p) * (got[i] - p) / p;
      ++freedom;
    }
    // Chi-square that one in a thousand exceeds, by Wilson and Hilferty.
    const double a = 2 / (9 * freedom);
    EXPECT_LT(statistic, freedom * std::pow(1 - a + 3.0902 * std::sqrt(a), 3)) << s.temperature;
  };
  expect({.temperature = 1}, {true, true, true, true, true, true});
  expect({.temperature = 0.5, .seed = 9}, {true, true, true, true, true, true});
  expect({.temperature = 2, .top_k = 3}, {false, true, true, false, true, false});
  // Probabilities 0.06 0.15 0.42 0.02 0.25 0.09: the last two of the sum are 0.67.
  expect({.temperature = 1, .top_p = 0.6}, {false, false, true, false, true, false});
  expect({.temperature = 1, .min_p = 0.3}, {false, true, true, false, true, false});
  for (std::uint64_t seed = 20; seed < 24; ++seed)
    expect({.temperature = 0.8, .top_k = 5, .seed = seed}, {true, true, true, false, true, true});
}

TEST_F(SamplingTest, ARowIsTheSameBesideAnyOthers) {
  const Array logits = random::normal(random::key(5), {6, 300}) * 3.0f;
  const Seen seen{random::bernoulli(random::key(6), 0.2f, {6, 300}),
                  random::randint(random::key(7), {6, 300}, 0, 3)};
  const std::vector<Sampling> all = {
      {.temperature = 0},
      {.temperature = 1, .seed = 3},
      {.temperature = 0.8, .top_k = 5, .seed = 1ull << 40},
      {.temperature = 0.8, .top_p = 0.7, .repetition_penalty = 1.2, .seed = 3},
      {.temperature = 1.5, .min_p = 0.05, .frequency_penalty = 0.4, .presence_penalty = 0.1},
      {.temperature = 0, .repetition_penalty = 2},
  };
  const std::vector<std::int32_t> positions = {0, 4, 4, 1000, 2, 3};
  const auto f = jit([](const Array& x, const Rows& r, const Seen& s) { return draw(x, r, s); });
  const Drawn together = f(logits, rows(all, positions), seen);
  for (std::int64_t b = 0; b < 6; ++b) {
    const auto i = static_cast<std::size_t>(b);
    const Drawn alone = f(logits[{slice(b, b + 1)}],
                          rows(std::span(all).subspan(i, 1), std::span(positions).subspan(i, 1)),
                          Seen{seen.prompt[{slice(b, b + 1)}], seen.output[{slice(b, b + 1)}]});
    EXPECT_EQ(alone.token.to_vector<int>()[0], together.token.to_vector<int>()[i]) << b;
    EXPECT_EQ(alone.logprob.to_vector<float>()[0], together.logprob.to_vector<float>()[i]) << b;
  }
  // Eager draws are those of a compiled step.
  const Drawn eager = draw(logits, rows(all, positions), seen);
  EXPECT_EQ(eager.token.to_vector<int>(), together.token.to_vector<int>());
  EXPECT_EQ(eager.logprob.to_vector<float>(), together.logprob.to_vector<float>());
}

TEST_F(SamplingTest, LogprobsAreOfTheTemperatureBeforeCuts) {
  const Array logits = random::normal(random::key(8), {2, 40}) * 2.0f;
  const std::vector<Sampling> all = {{.temperature = 0.7, .top_k = 3, .top_p = 0.5},
                                     {.temperature = 0}};
  const Drawn got = draw(logits, rows(all, std::vector<std::int32_t>{1, 1}));
  const Array want = nn::log_softmax(logits / array(std::vector<float>{0.7f, 1}, Sizes{2, 1}));
  for (std::int64_t b = 0; b < 2; ++b) {
    const auto i = static_cast<std::size_t>(b);
    const float expected = want[{b, got.token.to_vector<int>()[i]}].item<float>();
    EXPECT_NEAR(got.logprob.to_vector<float>()[i], expected, 2e-6) << b;
  }
}

TEST_F(SamplingTest, SaysWhereLogitsAreNoNumbers) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  const Array logits =
      array(std::vector<float>{0, 1, kNaN, 1, 0, kInf, -kInf, -kInf, -kInf, 0, -kInf, -kInf},
            Sizes{4, 3});
  const std::vector<Sampling> all(4, Sampling{.temperature = 1});
  EXPECT_EQ(draw(logits, rows(all, std::vector<std::int32_t>(4))).valid.to_vector<bool>(),
            (std::vector<bool>{false, false, false, true}));
}

TEST_F(SamplingTest, NoiseIsOfSeedPositionAndToken) {
  const std::vector<Sampling> all = {{.seed = 5}, {.seed = 5}, {.seed = 6}, {.seed = 5ull << 32}};
  const Rows r = rows(all, std::vector<std::int32_t>{3, 4, 3, 3});
  const Array long_row = noise(r.seed, r.position, 64), short_row = noise(r.seed, r.position, 10);
  EXPECT_EQ((long_row[{slice(), slice(0, 10)}].to_vector<float>()), short_row.to_vector<float>());
  for (std::int64_t a = 0; a < 4; ++a)
    for (std::int64_t b = 0; b < a; ++b)
      EXPECT_NE(long_row[a].to_vector<float>(), long_row[b].to_vector<float>()) << a << b;
}

TEST_F(SamplingTest, RefusesWhatIsOutOfRange) {
  const auto message = [](const Sampling& s) -> std::string {
    try {
      check(s);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  using testing::HasSubstr;
  EXPECT_EQ(message({}), "");
  EXPECT_THAT(message({.temperature = -1}), HasSubstr("temperature must be in"));
  EXPECT_THAT(message({.temperature = std::nan("")}), HasSubstr("temperature"));
  EXPECT_THAT(message({.top_k = -1}), HasSubstr("top_k must be 0 or more, got -1"));
  EXPECT_THAT(message({.top_p = 1.5}), HasSubstr("top_p must be in [0, 1], got 1.5"));
  EXPECT_THAT(message({.min_p = -0.1}), HasSubstr("min_p"));
  EXPECT_THAT(message({.repetition_penalty = 0}), HasSubstr("repetition_penalty"));
  EXPECT_THAT(message({.frequency_penalty = 3}), HasSubstr("frequency_penalty"));
  EXPECT_THAT(message({.presence_penalty = -3}), HasSubstr("presence_penalty"));
}

}  // namespace
}  // namespace strata::engine
