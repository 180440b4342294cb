// The same answer: tokens and log-probabilities of a request are its own to the bit, whatever the
// batch, the pieces of prompts, cached beginnings, requests put back, guessed tokens, threads and
// the layout of pages are. Combinations are drawn at random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/testing/small_model.h"

namespace strata::engine {
namespace {

using testing::prompt;
using Method = Speculation::Method;

class InvarianceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    compile::register_cpu();
    model_ = new model::ModelPtr(testing::small_model());
    params_ = new tree::Tree(testing::weights(**model_));
  }
  static void TearDownTestSuite() {
    delete params_;
    delete model_;
  }
  static Engine make(Options o) {
    if (o.speculation.method == Method::model) {
      // The model's own first layer guesses well, but not always.
      o.speculation.model = testing::small_model(1);
      o.speculation.params = testing::weights(*o.speculation.model);
    }
    return Engine(*model_, *params_, o);
  }
  /// A request of each kind of drawing, by number; some have equal beginnings, some repeat.
  static Request request(unsigned number) {
    Request r{.tokens = prompt(number % 5, 3 + number * 7 % 90, number % 2 == 0 ? 50 : 4),
              .max_tokens = 4 + number % 19};
    switch (number % 6) {
      case 0: r.sampling = {.temperature = 0}; break;
      case 1: r.sampling = {.temperature = 0.8, .seed = number}; break;
      case 2: r.sampling = {.temperature = 0.6, .top_k = 8, .top_p = 0.9, .seed = 5}; break;
      case 3:
        r.sampling = {.temperature = 0.7,
                      .repetition_penalty = 1.2,
                      .frequency_penalty = 0.3,
                      .presence_penalty = 0.2,
                      .seed = number};
        break;
      case 4:
        r.sampling = {.temperature = 1,
                      .min_p = 0.1,
                      .logit_bias = {{3, 2.0f}, {7, -100.0f}},
                      .bad_words = {{9}, {3, 3}},
                      .min_tokens = 3,
                      .logprobs_mode = Sampling::LogprobsMode::raw_logprobs};
        r.stop_tokens = {3};
        break;
      case 5: r.sampling = {.temperature = 0, .presence_penalty = 0.5}; break;
    }
    if (number % 4 == 1) r.logprobs = 3;
    if (number % 7 == 2) r.prompt_logprobs = 2;
    return r;
  }
  static void expect_equal(const Output& got, const Output& want, const std::string& what) {
    EXPECT_EQ(got.tokens, want.tokens) << what;
    EXPECT_EQ(got.logprobs, want.logprobs) << what;
    EXPECT_EQ(got.end, want.end) << what;
    ASSERT_EQ(got.others.size(), want.others.size()) << what;
    for (std::size_t i = 0; i < got.others.size(); ++i) {
      EXPECT_EQ(got.others[i].rank, want.others[i].rank) << what;
      ASSERT_EQ(got.others[i].likeliest.size(), want.others[i].likeliest.size());
      for (std::size_t j = 0; j < got.others[i].likeliest.size(); ++j) {
        EXPECT_EQ(got.others[i].likeliest[j].token, want.others[i].likeliest[j].token) << what;
        EXPECT_EQ(got.others[i].likeliest[j].logprob, want.others[i].likeliest[j].logprob) << what;
      }
    }
    ASSERT_EQ(got.prompt_logprobs.size(), want.prompt_logprobs.size()) << what;
    for (std::size_t i = 0; i < got.prompt_logprobs.size(); ++i)
      EXPECT_EQ(got.prompt_logprobs[i].logprob, want.prompt_logprobs[i].logprob) << what;
  }
  /// Each in an empty cache, alone, without guesses.
  static const Output& alone(unsigned number) {
    static std::map<unsigned, Output> known;
    if (const auto it = known.find(number); it != known.end()) return it->second;
    static Engine engine = make({.pages = 12, .max_batch = 1, .share_beginnings = false});
    return known[number] = testing::outputs(engine, {request(number)})[0];
  }

  static model::ModelPtr* model_;
  static tree::Tree* params_;
};
model::ModelPtr* InvarianceTest::model_ = nullptr;
tree::Tree* InvarianceTest::params_ = nullptr;

TEST_F(InvarianceTest, WhateverTheEngineDoes) {
  const int threads = num_threads();
  std::mt19937 random(1);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  // A soak draws more of them.
  const char* given = std::getenv("STRATA_ENGINE_ROUNDS");
  const int rounds = given == nullptr ? 4 : std::atoi(given);
  std::int64_t put_back = 0, hits = 0, accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    set_num_threads(static_cast<int>(1 + below(3)));
    const std::int64_t page_size =
        std::vector<std::int64_t>{3, 8, 16, 40}[static_cast<std::size_t>(below(4))];
    Options o{.pages = (140 + below(4) * 300) / page_size + 1,
              .page_size = page_size,
              .max_batch = 2 + below(7),
              .chunk = std::vector<std::int64_t>{5, 16, 64}[static_cast<std::size_t>(below(3))],
              .step_tokens = 8 + below(100),
              .max_length = 130,
              .share_beginnings = below(4) > 0,
              .reserve = static_cast<double>(below(2)),
              .speculation = {.method = static_cast<Method>(round % 4), .tokens = 1 + below(5)}};
    Engine engine = make(o);
    std::vector<std::pair<Id, unsigned>> open;
    for (int sent = 0; sent < 14 || engine.step();) {
      if (sent < 14 && below(2) == 0) {
        const auto number = static_cast<unsigned>(below(24));
        Request r = request(number);
        r.priority = below(2);
        open.emplace_back(engine.submit(r), number);
        ++sent;
      }
      engine.step();
      engine.check();
    }
    for (const auto& [id, number] : open)
      expect_equal(engine.take(id), alone(number),
                   fmt::format("round {}, request {}", round, number));
    const Statistics s = engine.statistics();
    EXPECT_EQ(s.free_pages, s.pages);
    put_back += s.preempted, hits += s.prefix_hits, accepted += s.accepted;
  }
  set_num_threads(threads);
  // All of it happened.
  EXPECT_GT(put_back, 0);
  EXPECT_GT(hits, 0);
  EXPECT_GT(accepted, 0);
}

TEST_F(InvarianceTest, BesideFortySevenOthersFiveTimes) {
  std::vector<Request> all;
  for (unsigned i = 0; i < 48; ++i) all.push_back(request(i % 24));
  Engine engine = make({.pages = 600, .max_batch = 48, .step_tokens = 512});
  for (int run = 0; run < 5; ++run) {
    const std::vector<Output> got = testing::outputs(engine, all);
    for (unsigned i = 0; i < 48; ++i)
      expect_equal(got[i], alone(i % 24), fmt::format("run {}, request {}", run, i));
  }
}

TEST_F(InvarianceTest, ColdAndWarmAtEveryCachedLength) {
  constexpr std::size_t kLength = 40;
  const std::vector<std::int32_t> text = prompt(77, kLength);
  Engine cold = make({.pages = 40, .share_beginnings = false});
  const Request whole{.tokens = text, .sampling = {.temperature = 0.9, .seed = 3}, .max_tokens = 6};
  const Output want = testing::outputs(cold, {whole})[0];
  for (const std::int64_t size : {1, 16}) {
    Engine warm = make({.pages = 80, .page_size = size, .vocabulary = 0});
    for (std::size_t cached = 1; cached < kLength; ++cached) {
      warm.set_params(*params_);  // nothing is found
      Request part = whole;
      part.tokens.resize(cached);
      part.max_tokens = 1;
      testing::outputs(warm, {part});
      // Another text behind the same beginning finds as much, and changes nothing for others.
      Request other = whole;
      other.tokens.resize(cached);
      other.tokens.push_back(text[cached] == 5 ? 6 : 5);
      EXPECT_EQ(testing::outputs(warm, {other})[0].shared_tokens,
                static_cast<std::int64_t>(cached));
      const Output got = testing::outputs(warm, {whole})[0];
      EXPECT_EQ(got.shared_tokens, static_cast<std::int64_t>(cached));
      expect_equal(got, want, fmt::format("{} tokens cached, pages of {}", cached, size));
      warm.check();
    }
  }
}

TEST_F(InvarianceTest, PagesOfNarrowNumbersKeepTheLawAndAreNear) {
  const std::vector<unsigned> numbers = {0, 1, 3, 10};
  std::vector<Request> all;
  for (unsigned n : numbers) all.push_back(request(n));
  Request whole{.tokens = prompt(8, 100),
                .sampling = {.temperature = 0},
                .max_tokens = 1,
                .prompt_logprobs = -1};
  // Weights as they are drawn at first: those of the other tests make chaos of any rounding.
  const tree::Tree calm = (*model_)->init(random::key(11));
  Engine exact(*model_, calm, {.pages = 40, .max_logprobs = -1});
  const Output want = testing::outputs(exact, {whole})[0];
  for (const auto& [dtype, bound] :
       {std::pair(DType::i8, 1e-4), {DType::f8E4M3FN, 4e-3}, {DType::bf16, 2e-5}}) {
    Engine together = make({.pages = 200,
                            .page_size = 5,
                            .chunk = 32,
                            .pages_dtype = dtype,
                            .max_logprobs = -1,
                            .speculation = {.method = Method::ngram}});
    Engine one = make({.pages = 20, .max_batch = 1, .pages_dtype = dtype});
    for (int run = 0; run < 2; ++run) {
      const std::vector<Output> got = testing::outputs(together, all);
      for (std::size_t i = 0; i < all.size(); ++i)
        expect_equal(got[i], testing::outputs(one, {all[i]})[0], std::string(name(dtype)));
    }
    // Kullback-Leibler divergence of the next token's distribution, in nats, over the prompt.
    together.set_params(calm);
    const Output got = testing::outputs(together, {whole})[0];
    double sum = 0;
    for (std::size_t t = 0; t < want.prompt_logprobs.size(); ++t) {
      std::map<std::int32_t, double> q;
      for (const TokenLogprob& x : got.prompt_logprobs[t].others.likeliest) q[x.token] = x.logprob;
      for (const TokenLogprob& x : want.prompt_logprobs[t].others.likeliest)
        sum += std::exp(static_cast<double>(x.logprob)) *
               (static_cast<double>(x.logprob) - q.at(x.token));
    }
    const double mean = sum / static_cast<double>(want.prompt_logprobs.size());
    RecordProperty(std::string(name(dtype)), std::to_string(mean));
    EXPECT_GT(mean, 0) << name(dtype);
    EXPECT_LT(mean, bound) << name(dtype);
    std::printf("pages of %s: %.2e nats\n", std::string(name(dtype)).c_str(), mean);
  }
}

}  // namespace
}  // namespace strata::engine
