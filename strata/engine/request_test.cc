// What requests may ask for: bias, barred tokens, likeliest tokens, log-probabilities of prompts,
// several samples, deadlines; and other weights in between.
#include "strata/engine/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/samples.h"
#include "strata/engine/score.h"
#include "strata/engine/testing/small_model.h"

namespace strata::engine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kVocabulary;
using testing::prompt;
using Tokens = std::vector<std::int32_t>;

constexpr float kNever = -std::numeric_limits<float>::infinity();

class RequestTest : public ::testing::Test {
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
  /// One for all tests that have no wishes: compiled once.
  static Engine& engine() {
    static Engine e(*model_, *params_, {.pages = 40, .max_logprobs = -1});
    return e;
  }
  static Output run(const Request& r) { return testing::outputs(engine(), {r})[0]; }
  static Request plain() {
    return {.tokens = prompt(1, 20), .sampling = {.temperature = 0}, .max_tokens = 12};
  }
  static std::string message(const Request& r, Options o = {.pages = 40}) {
    try {
      Engine(*model_, *params_, o).submit(r);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  static model::ModelPtr* model_;
  static tree::Tree* params_;
};
model::ModelPtr* RequestTest::model_ = nullptr;
tree::Tree* RequestTest::params_ = nullptr;

TEST_F(RequestTest, BiasMovesTokensUpAndDown) {
  const Output free = run(plain());
  Request r = plain();
  r.sampling.logit_bias = {{17, 100.0f}};
  EXPECT_THAT(run(r).tokens, Each(17));
  r.sampling.logit_bias = {{free.tokens[0], -1000.0f}};  // as -100
  EXPECT_NE(run(r).tokens[0], free.tokens[0]);
  r.sampling.logit_bias = {{free.tokens[0], 0.0f}};
  const Output same = run(r);
  EXPECT_EQ(same.tokens, free.tokens);
  EXPECT_EQ(same.logprobs, free.logprobs);
}

TEST_F(RequestTest, OnlyAllowedTokensAreDrawn) {
  Request r = plain();
  r.sampling = {.temperature = 1.5, .seed = 3, .allowed_tokens = Tokens{5, 9, 30}};
  r.max_tokens = 30;
  const Output out = run(r);
  const std::set<std::int32_t> drawn(out.tokens.begin(), out.tokens.end());
  EXPECT_THAT(drawn, ::testing::IsSubsetOf({5, 9, 30}));
  EXPECT_GT(drawn.size(), 1u);
}

TEST_F(RequestTest, BadWordsDoNotAppear) {
  const Output free = run(plain());
  Request r = plain();
  r.sampling.bad_words = {{free.tokens[0]}, {free.tokens[2], free.tokens[3]}};
  const Output out = run(r);
  EXPECT_EQ(std::count(out.tokens.begin(), out.tokens.end(), free.tokens[0]), 0);
  EXPECT_EQ(std::search(out.tokens.begin(), out.tokens.end(), free.tokens.begin() + 2,
                        free.tokens.begin() + 4),
            out.tokens.end());
  // Only the pair is barred.
  r.sampling.bad_words = {{free.tokens[2], free.tokens[3]}};
  const Output pair = run(r);
  EXPECT_TRUE(std::equal(free.tokens.begin(), free.tokens.begin() + 3, pair.tokens.begin()));
  EXPECT_NE(pair.tokens[3], free.tokens[3]);
}

TEST_F(RequestTest, StopTokensWaitForMinTokens) {
  const Output free = run(plain());
  Request r = plain();
  r.stop_tokens = {free.tokens[1]};
  EXPECT_LE(run(r).tokens.size(), 2u);
  r.sampling.min_tokens = 6;
  const Output out = run(r);
  EXPECT_GE(out.tokens.size(), 6u);
  EXPECT_EQ(std::count(out.tokens.begin(), out.tokens.begin() + 6, free.tokens[1]), 0);
  EXPECT_EQ(out.tokens[0], free.tokens[0]);
}

TEST_F(RequestTest, AShapeBarsTokensByTheOutputSoFar) {
  Request r = plain();
  // Behind token t comes t + 1.
  r.shape = [](std::span<const std::int32_t> output, std::span<float> bias) {
    if (output.empty()) return false;
    std::fill(bias.begin(), bias.end(), kNever);
    bias[static_cast<std::size_t>(output.back() + 1) % bias.size()] = 0;
    return true;
  };
  const Output out = run(r);
  EXPECT_EQ(out.tokens[0], run(plain()).tokens[0]);
  for (std::size_t i = 1; i < out.tokens.size(); ++i)
    EXPECT_EQ(out.tokens[i], (out.tokens[i - 1] + 1) % kVocabulary);
  r.shape = [](std::span<const std::int32_t> output, std::span<float> bias) {
    if (output.size() == 2) std::fill(bias.begin(), bias.end(), kNever);
    return true;
  };
  const Output barred = run(r);
  EXPECT_EQ(barred.end, End::error);
  EXPECT_EQ(barred.tokens.size(), 2u);
  EXPECT_THAT(barred.error, HasSubstr("no token may be token 2 of the output"));
}

TEST_F(RequestTest, TheLikeliestTokensComeWithTheirRanks) {
  Request r = plain();
  r.sampling = {.temperature = 1.2, .seed = 8};
  r.logprobs = 4;
  r.logprob_tokens = {3, 50};
  const Output out = run(r);
  ASSERT_EQ(out.others.size(), out.tokens.size());
  r.logprobs = -1;
  const Output all = run(r);
  for (std::size_t i = 0; i < out.tokens.size(); ++i) {
    const TokenLogprobs &few = out.others[i], &every = all.others[i];
    ASSERT_EQ(every.likeliest.size(), static_cast<std::size_t>(kVocabulary));
    double total = 0;
    for (std::size_t j = 0; j < every.likeliest.size(); ++j) {
      const TokenLogprob& t = every.likeliest[j];
      total += std::exp(t.logprob);
      if (j > 0) {
        EXPECT_LE(t.logprob, every.likeliest[j - 1].logprob);
      }
      EXPECT_EQ(t.rank, static_cast<std::int64_t>(j) + 1);
      if (t.token != out.tokens[i]) continue;
      EXPECT_EQ(t.logprob, out.logprobs[i]);
      EXPECT_EQ(few.rank, t.rank);
    }
    EXPECT_NEAR(total, 1, 1e-5);
    ASSERT_EQ(few.likeliest.size(), 4u);
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(few.likeliest[j].token, every.likeliest[j].token);
    ASSERT_EQ(few.asked.size(), 2u);
    EXPECT_EQ(few.asked[1].token, 50);
  }
}

TEST(Likeliest, TiesHaveOneRankAndTheFirstToken) {
  const std::vector<float> x = {-1, -3, -1, -2, -1};
  const TokenLogprobs out = likeliest(x, 3, 2, Tokens{1});
  EXPECT_EQ(out.rank, 4);
  ASSERT_EQ(out.likeliest.size(), 2u);
  EXPECT_EQ(out.likeliest[0].token, 0);
  EXPECT_EQ(out.likeliest[1].token, 2);
  EXPECT_EQ(out.likeliest[0].rank, 3);
  EXPECT_EQ(out.likeliest[1].rank, 3);
  EXPECT_EQ(out.asked[0].rank, 5);
  EXPECT_EQ(likeliest(x, 0, -1).likeliest.size(), 5u);
  EXPECT_TRUE(likeliest(x, 0, 0).likeliest.empty());
}

TEST_F(RequestTest, PromptsHaveTheLogprobsOfTheScorer) {
  Request r = plain();
  r.tokens = prompt(3, 90);
  r.prompt_logprobs = 1;
  const Output out = run(r);
  EXPECT_EQ(out.shared_tokens, 0);
  const Scored want = Scorer(*model_, *params_, 128).score(r.tokens);
  ASSERT_EQ(out.prompt_logprobs.size(), want.logprobs.size());
  for (std::size_t i = 0; i < want.logprobs.size(); ++i) {
    EXPECT_EQ(out.prompt_logprobs[i].token, r.tokens[i + 1]);
    EXPECT_EQ(out.prompt_logprobs[i].logprob, want.logprobs[i]);
    EXPECT_EQ(out.prompt_logprobs[i].others.rank == 1, want.greedy[i]);
  }
  r.prompt_logprobs.reset();
  EXPECT_EQ(run(r).tokens, out.tokens);
}

TEST_F(RequestTest, RawLogprobsAreOfTheModel) {
  Request r = plain();
  r.sampling = {.temperature = 0.4, .repetition_penalty = 1.5, .seed = 2};
  r.sampling.logit_bias = {{4, 3.0f}};
  r.sampling.logprobs_mode = Sampling::LogprobsMode::raw_logprobs;
  const Output out = run(r);
  r.sampling.logprobs_mode = Sampling::LogprobsMode::tempered;
  const Output other = run(r);
  EXPECT_EQ(out.tokens, other.tokens);
  EXPECT_NE(out.logprobs, other.logprobs);
  Tokens whole = r.tokens;
  whole.insert(whole.end(), out.tokens.begin(), out.tokens.end());
  const Scored want = Scorer(*model_, *params_, 128).score(whole);
  for (std::size_t i = 0; i < out.tokens.size(); ++i)
    EXPECT_EQ(out.logprobs[i], want.logprobs[r.tokens.size() - 1 + i]);
}

TEST_F(RequestTest, SamplesShareTheirPrompt) {
  Request r = plain();
  r.tokens = prompt(4, 50);
  r.sampling = {.temperature = 1, .seed = 6};
  Engine fresh(*model_, *params_, {.pages = 40});
  const std::vector<Id> ids = fresh.submit(r, 3);
  while (fresh.step()) fresh.check();
  std::vector<Output> outs;
  for (Id id : ids) outs.push_back(fresh.take(id));
  EXPECT_EQ(outs[0].shared_tokens, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    Request one = r;
    one.sampling.seed = seed_of_sample(6, static_cast<std::int64_t>(i));
    EXPECT_EQ(outs[i].tokens, run(one).tokens) << i;
    if (i > 0) {
      EXPECT_EQ(outs[i].shared_tokens, 48);
      EXPECT_NE(outs[i].tokens, outs[0].tokens);
    }
  }
  // The first one ends before its prompt is read: the others read it themselves.
  const std::vector<Id> again = fresh.submit(r, 2);
  fresh.cancel(again[0]);
  while (fresh.step()) fresh.check();
  EXPECT_EQ(fresh.take(again[1]).tokens, outs[1].tokens);
  EXPECT_EQ(fresh.statistics().free_pages, 40);
  const std::vector<Output> best = best_of(outs, 2);
  ASSERT_EQ(best.size(), 2u);
  const auto mean = [](const Output& o) {
    double sum = 0;
    for (float x : o.logprobs) sum += x;
    return sum / static_cast<double>(o.logprobs.size());
  };
  EXPECT_GE(mean(best[0]), mean(best[1]));
  EXPECT_GE(mean(best[1]), std::min({mean(outs[0]), mean(outs[1]), mean(outs[2])}));
}

/// The best beams by looking at every text of three tokens.
TEST_F(RequestTest, AWideBeamSearchFindsTheBestTexts) {
  Engine narrow(*model_, *params_,
                {.pages = 400, .max_batch = 16, .vocabulary = 8, .max_logprobs = -1});
  const Tokens start = prompt(5, 6, 8);
  const std::vector<Beam> beams =
      beam_search(narrow, start, {.width = 64, .max_tokens = 3, .stop_tokens = {2}});
  ASSERT_FALSE(beams.empty());
  // Texts end at the first 2, or after three tokens.
  std::map<Tokens, double> sums;
  const std::function<void(Tokens, double)> extend = [&](Tokens text, double sum) {
    if (text.size() == 3 || (!text.empty() && text.back() == 2)) {
      const auto length = static_cast<double>(text.size()) - (text.back() == 2 ? 1 : 0);
      sums[text] = sum / std::max(length, 1.0);
      return;
    }
    Request r{.tokens = start, .sampling = {.temperature = 0}, .max_tokens = 1, .logprobs = 8};
    r.tokens.insert(r.tokens.end(), text.begin(), text.end());
    const Output out = testing::outputs(narrow, {r})[0];
    for (const TokenLogprob& t : out.others[0].likeliest) {
      Tokens next = text;
      next.push_back(t.token);
      extend(next, sum + static_cast<double>(t.logprob));
    }
  };
  extend({}, 0);
  std::vector<double> best;
  for (const auto& [text, score] : sums) best.push_back(score);
  std::sort(best.rbegin(), best.rend());
  for (std::size_t i = 0; i < beams.size(); ++i) {
    EXPECT_DOUBLE_EQ(beams[i].score, best[i]) << i;
    EXPECT_DOUBLE_EQ(beams[i].score, sums.at(beams[i].tokens)) << i;
    EXPECT_EQ(beams[i].logprobs.size(), beams[i].tokens.size());
  }
  EXPECT_EQ(narrow.statistics().free_pages, 400);
  EXPECT_THROW(beam_search(narrow, start, {.width = 0}), Error);
  // One beam is greedy.
  const std::vector<Beam> one =
      beam_search(engine(), plain().tokens, {.width = 1, .max_tokens = 8});
  const Tokens greedy = run(plain()).tokens;
  EXPECT_EQ(one[0].tokens, Tokens(greedy.begin(), greedy.begin() + 8));
}

TEST_F(RequestTest, DeadlinesEndRequests) {
  Clock::time_point time{};
  Engine e(*model_, *params_, {.pages = 40, .max_batch = 1, .now = [&] { return time; }});
  Request r = plain();
  r.deadline = time + std::chrono::seconds(5);
  const Id first = e.submit(r), second = e.submit(r);
  r.deadline.reset();
  const Id third = e.submit(r);
  for (int i = 0; i < 4; ++i) {
    e.step();
    time += std::chrono::seconds(1);
  }
  EXPECT_FALSE(e.ended(first));
  time += std::chrono::seconds(1);
  e.step();
  const Output out = e.take(first);
  EXPECT_EQ(out.end, End::deadline);
  EXPECT_GT(out.tokens.size(), 0u);
  EXPECT_TRUE(e.take(second).tokens.empty()) << "it waited too long";
  while (e.step()) e.check();
  const Output whole = e.take(third);
  EXPECT_EQ(whole.tokens, run(plain()).tokens);
  EXPECT_EQ(*whole.times.scheduled, Clock::time_point{} + std::chrono::seconds(5));
  EXPECT_EQ(e.statistics().ended[static_cast<std::size_t>(End::deadline)], 2);
  EXPECT_EQ(e.statistics().free_pages, 40);
}

TEST_F(RequestTest, OtherWeightsGoOnFromWhatIsKnown) {
  const tree::Tree other = testing::weights(**model_, 12);
  Engine e(*model_, *params_, {.pages = 60});
  Request r = plain();
  r.tokens = prompt(6, 40);
  const Output before = testing::outputs(e, {r})[0];
  const Id open = e.submit(r);
  for (int i = 0; i < 4; ++i) e.step();
  e.set_params(other);
  e.check();
  while (e.step()) e.check();
  const Output changed = e.take(open);
  // What was drawn stays; what comes is drawn by the new weights from all of it.
  std::size_t same = 0;
  while (same < before.tokens.size() && changed.tokens[same] == before.tokens[same]) ++same;
  ASSERT_GE(same, 3u);
  ASSERT_LT(same, changed.tokens.size());
  Engine fresh(*model_, other, {.pages = 60});
  Request rest = r;
  rest.tokens.insert(rest.tokens.end(), changed.tokens.begin(), changed.tokens.begin() + 4);
  rest.max_tokens = r.max_tokens - 4;
  EXPECT_EQ(Tokens(changed.tokens.begin() + 4, changed.tokens.end()),
            testing::outputs(fresh, {rest})[0].tokens);
  // Nothing of the old weights is found.
  const Output after = testing::outputs(e, {r})[0];
  const Output want = testing::outputs(fresh, {r})[0];
  EXPECT_EQ(after.tokens, want.tokens);
  EXPECT_EQ(after.logprobs, want.logprobs);
  EXPECT_THROW(e.set_params(testing::small_model(1)->init(random::key(0))), Error);
}

TEST_F(RequestTest, RepetitionEndsAnOutput) {
  Request r = plain();
  r.sampling.logit_bias = {{17, 100.0f}};
  r.repetition_detection = RepetitionDetection{.max_size = 2, .min_size = 2, .min_count = 3};
  const Output out = run(r);
  EXPECT_EQ(out.end, End::repetition);
  EXPECT_EQ(out.tokens.size(), 6u);
  EXPECT_TRUE(repeats(Tokens{9, 1, 2, 1, 2}, {.max_size = 3, .min_size = 1, .min_count = 2}));
  EXPECT_FALSE(repeats(Tokens{1, 2, 1, 2, 3}, {.max_size = 3, .min_size = 1, .min_count = 2}));
  EXPECT_FALSE(repeats(Tokens{}, {.max_size = 3}));
}

TEST_F(RequestTest, SaltsShareNothing) {
  Engine e(*model_, *params_, {.pages = 60});
  Request r = plain();
  r.tokens = prompt(7, 40);
  r.salt = "a";
  const Output first = testing::outputs(e, {r})[0];
  EXPECT_EQ(testing::outputs(e, {r})[0].shared_tokens, 39);
  r.salt = "b";
  const Output other = testing::outputs(e, {r})[0];
  EXPECT_EQ(other.shared_tokens, 0);
  EXPECT_EQ(other.tokens, first.tokens);
  EXPECT_EQ(e.statistics().prefix_queries, 120);
  EXPECT_EQ(e.statistics().prefix_hits, 39);
}

TEST_F(RequestTest, RefusesWhatIsOutOfRange) {
  const auto with = [&](const auto& change) {
    Request r = plain();
    change(r);
    return message(r);
  };
  EXPECT_EQ(message(plain()), "");
  EXPECT_THAT(with([](Request& r) { r.sampling.logit_bias = {{61, 1.0f}}; }),
              HasSubstr("logit_bias: token 61 is not in [0, 61)"));
  EXPECT_THAT(with([](Request& r) { r.sampling.logit_bias = {{1, std::nanf("")}}; }),
              HasSubstr("logit_bias of token 1 is no number"));
  EXPECT_THAT(with([](Request& r) { r.sampling.allowed_tokens = Tokens{}; }),
              HasSubstr("allowed_tokens must have one"));
  EXPECT_THAT(with([](Request& r) { r.sampling.allowed_tokens = Tokens{-1}; }),
              HasSubstr("allowed_tokens: token -1"));
  EXPECT_THAT(with([](Request& r) { r.sampling.bad_words = {{}}; }), HasSubstr("bad_words"));
  EXPECT_THAT(with([](Request& r) { r.sampling.bad_words = std::vector<Tokens>(129, {1}); }),
              HasSubstr("got 129 with 129"));
  EXPECT_THAT(with([](Request& r) { r.sampling.min_tokens = -1; }), HasSubstr("min_tokens"));
  EXPECT_THAT(with([](Request& r) { r.sampling.min_tokens = 13; }),
              HasSubstr("min_tokens=13 must be at most max_tokens=12"));
  EXPECT_THAT(with([](Request& r) { r.logprobs = 21; }),
              HasSubstr("logprobs must be in [0, 20], got 21"));
  EXPECT_THAT(with([](Request& r) { r.prompt_logprobs = -1; }), HasSubstr("prompt_logprobs"));
  EXPECT_THAT(with([](Request& r) { r.logprob_tokens = Tokens(129, 1); }),
              HasSubstr("logprob_tokens must be at most 128"));
  EXPECT_THAT(with([](Request& r) { r.repetition_detection = RepetitionDetection{}; }),
              HasSubstr("repetition_detection"));
  EXPECT_THROW(engine().submit(plain(), 0), Error);
}

}  // namespace
}  // namespace strata::engine
