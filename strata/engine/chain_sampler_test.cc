// Requests with a chain: the engine's own draws where the stages are its own, the same tokens with
// and without speculation, and what is told of them.
#include "strata/engine/chain_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/testing/small_model.h"

namespace strata::engine {
namespace {

using Stage = Chain::Stage;
using Method = Speculation::Method;
using Mode = Sampling::LogprobsMode;

class ChainSamplerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  static Options options(Method method = Method::none) {
    Options o{.pages = 64, .page_size = 8, .max_batch = 4};
    o.speculation = {.method = method, .tokens = 3};
    if (method == Method::model) {
      o.speculation.model = testing::small_model(1);
      o.speculation.params = testing::weights(*o.speculation.model);
    }
    return o;
  }
  static std::vector<Output> run(const Options& o, const std::vector<Request>& all) {
    const model::ModelPtr m = testing::small_model();
    Engine engine(m, testing::weights(*m), o);
    return testing::outputs(engine, all);
  }
  /// A request of each kind of chain, whose prompts repeat themselves so that guesses are made.
  static std::vector<Request> kinds() {
    std::vector<Chain> chains(8);
    chains[0].typical_p = 0.7;
    chains[1].top_n_sigma = 1;
    chains[2].xtc_probability = 0.5, chains[2].xtc_threshold = 0.05;
    chains[3].dry_multiplier = 0.8, chains[3].dry_breakers = {{3}};
    chains[4].mirostat = 1, chains[4].mirostat_tau = 2;
    chains[5].mirostat = 2, chains[5].mirostat_eta = 0.5;
    chains[6].dynatemp_range = 0.5;
    chains[7].order = {Stage::temperature, Stage::top_k};
    std::vector<Request> out;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      Request r{.tokens = testing::prompt(3, 5)};
      for (int again = 0; again < 2; ++again)
        r.tokens.insert(r.tokens.end(), r.tokens.begin(), r.tokens.begin() + 5);
      r.sampling = {.temperature = 0.6, .top_k = 20, .top_p = 0.95, .seed = 40 + i};
      r.sampling.repetition_penalty = i % 2 == 0 ? 1.1 : 1;
      r.sampling.chain = chains[i];
      r.max_tokens = 24;
      out.push_back(r);
    }
    return out;
  }
};

TEST_F(ChainSamplerTest, TheStepsOwnStagesDrawTheStepsTokens) {
  std::vector<Request> plain;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Request r{.tokens = testing::prompt(static_cast<unsigned>(seed), 9), .max_tokens = 20};
    r.sampling = {.temperature = seed == 0 ? 0 : 0.9, .seed = seed};
    if (seed > 1) r.sampling.min_p = 0.03, r.sampling.top_k = 25, r.sampling.top_p = 0.9;
    if (seed > 3) r.sampling.repetition_penalty = 1.2, r.sampling.frequency_penalty = 0.3;
    if (seed == 5) r.sampling.logit_bias = {{7, 3.0f}, {9, -100.0f}}, r.sampling.min_tokens = 5;
    plain.push_back(r);
  }
  std::vector<Request> chained = plain;
  for (Request& r : chained) {
    r.sampling.chain.emplace();
    r.sampling.chain->order = {Stage::penalties, Stage::temperature, Stage::min_p, Stage::top_k,
                               Stage::top_p};
  }
  const auto want = run(options(), plain), got = run(options(), chained);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].tokens, want[i].tokens) << i;
    for (std::size_t t = 0; t < want[i].logprobs.size(); ++t)
      EXPECT_NEAR(got[i].logprobs[t], want[i].logprobs[t], 1e-5f);
  }
}

TEST_F(ChainSamplerTest, SpeculationChangesNoToken) {
  const auto want = run(options(), kinds());
  for (const Method method : {Method::ngram, Method::suffix, Method::model}) {
    const auto got = run(options(method), kinds());
    std::int64_t guessed = 0, accepted = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].tokens, want[i].tokens) << i << " by " << static_cast<int>(method);
      EXPECT_EQ(got[i].logprobs, want[i].logprobs) << i;
      guessed += got[i].guessed, accepted += got[i].accepted;
    }
    EXPECT_GT(guessed, 0);
    EXPECT_GT(accepted, 0);
  }
}

TEST_F(ChainSamplerTest, TokensAreTheRequestsAlone) {
  const auto together = run(options(), kinds());
  // Few pages: some are put back, and go on where they were.
  Options tight = options();
  tight.pages = 9, tight.reserve = 0;
  const auto put_back = run(tight, kinds());
  std::int64_t times = 0;
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(run(options(), {kinds()[i]})[0].tokens, together[i].tokens) << i;
    EXPECT_EQ(put_back[i].tokens, together[i].tokens) << i;
    times += put_back[i].preempted;
  }
  EXPECT_GT(times, 0);
  // Another seed, another text.
  Request other = kinds()[0];
  other.sampling.seed = 999;
  EXPECT_NE(run(options(), {other})[0].tokens, together[0].tokens);
}

TEST_F(ChainSamplerTest, XtcComesAsOftenAsItIsToldTo) {
  const std::vector<float> logits = {3, 2.5f, 0, -1};
  const std::vector<float> noise(4, 0.0f);
  Sampling s{.temperature = 1};
  s.chain.emplace();
  s.chain->xtc_probability = 0.3, s.chain->xtc_threshold = 0.2;
  int second = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    s.seed = seed;
    ChainSampler sampler(
        s, {}, 4, [&](std::uint64_t, std::int64_t) { return std::span<const float>(noise); });
    second += sampler.draw(logits, {}, {}, 0, false).token == 1;
  }
  EXPECT_NEAR(second, 600, 65);  // 3 standard deviations
}

TEST_F(ChainSamplerTest, EachModeTellsItsOwn) {
  std::vector<std::vector<Output>> of;
  for (const bool chained : {false, true}) {
    std::vector<Request> all;
    for (const Mode mode : {Mode::tempered, Mode::raw_logprobs, Mode::raw_logits,
                            Mode::processed_logprobs, Mode::processed_logits}) {
      Request r{.tokens = testing::prompt(8, 9), .max_tokens = 6, .logprobs = 4};
      r.sampling = {.temperature = 0.5, .top_k = 3, .seed = 4, .logprobs_mode = mode};
      if (chained) {
        r.sampling.chain.emplace();
        r.sampling.chain->order = {Stage::temperature, Stage::top_k};
      }
      r.logprob_tokens = {1};
      all.push_back(r);
    }
    of.push_back(run(options(), all));
  }
  for (const auto& out : of)
    for (std::size_t t = 0; t < 6; ++t) {
      for (const Output& o : out) EXPECT_EQ(o.tokens, of[0][0].tokens);
      const auto& raw = out[2].others[t].likeliest;        // logits as the model says them
      const auto& processed = out[4].others[t].likeliest;  // and as they are drawn from
      // Differences of logits are those of log-probabilities.
      for (std::size_t i = 1; i < 3; ++i) {
        const float apart = raw[i].logprob - raw[0].logprob;
        EXPECT_NEAR(out[1].others[t].likeliest[i].logprob - out[1].others[t].likeliest[0].logprob,
                    apart, 1e-4f);
        EXPECT_NEAR(out[0].others[t].likeliest[i].logprob - out[0].others[t].likeliest[0].logprob,
                    apart * 2, 1e-4f);
        EXPECT_NEAR(processed[i].logprob, raw[i].logprob * 2, 1e-4f);
      }
      // Three stay; their probabilities are all there are.
      double sum = 0;
      for (std::size_t i = 0; i < 3; ++i)
        sum += std::exp(static_cast<double>(out[3].others[t].likeliest[i].logprob));
      EXPECT_NEAR(sum, 1, 1e-5);
      EXPECT_TRUE(std::isinf(out[3].others[t].likeliest[3].logprob));
      for (std::size_t i = 0; i < out.size(); ++i)
        EXPECT_NEAR(out[i].logprobs[t], of[0][i].logprobs[t], 1e-4f) << i;
    }
}

}  // namespace
}  // namespace strata::engine
