// Laws of the engine: a request's tokens, log-probabilities and logits are its own, to the bit,
// whatever is beside it and however the engine is laid out; and no page is lost.
#include "strata/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"

namespace strata::engine {
namespace {

using Tokens = std::vector<std::int32_t>;
using testing::HasSubstr;

constexpr std::int64_t kVocabulary = 61;
/// A token whose vector is NaN.
constexpr std::int32_t kPoison = 60;

model::ModelPtr small_model(DType dtype = DType::f32) {
  return llama::model({.vocab_size = kVocabulary,
                       .base_emb_dim = 16,
                       .base_num_decoder_layers = 2,
                       .base_num_query_heads = 4,
                       .base_num_kv_heads = 2,
                       .head_dim = 6,
                       .base_mlp_dim = 20,
                       .dtype = dtype});
}

/// Weights large enough that the likeliest token changes from place to place.
tree::Tree weights(const model::Model& model) {
  return model.init(random::key(11)).map([](const Array& w) {
    if (w.shape() != Shape({kVocabulary, 16})) return w * 1.5f;
    return where(expand_dims(arange(kVocabulary), 1) == kPoison,
                 std::numeric_limits<float>::quiet_NaN(), w * 3.0f);
  });
}

Tokens prompt(unsigned seed, std::size_t length) {
  std::mt19937 random(seed);
  Tokens out;
  for (std::size_t i = 0; i < length; ++i) out.push_back(static_cast<std::int32_t>(random() % 50));
  return out;
}

/// What a request was told, and what became of it.
struct Told {
  Tokens tokens;
  std::vector<float> logprobs, logits;
  Output output;
  int ends = 0;
};

class EngineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    compile::register_cpu();
    model_ = new model::ModelPtr(small_model());
    params_ = new tree::Tree(weights(**model_));
  }
  static void TearDownTestSuite() {
    delete params_;
    delete model_;
  }
  static std::vector<Request> requests() {
    return {
        {.tokens = prompt(1, 5), .sampling = {.temperature = 0}, .max_tokens = 20},
        {.tokens = prompt(2, 131), .sampling = {.temperature = 0.9, .seed = 4}, .max_tokens = 12},
        {.tokens = prompt(3, 1),
         .sampling = {.temperature = 0.7, .top_k = 9, .top_p = 0.8, .seed = 4},
         .max_tokens = 40},
        {.tokens = prompt(4, 70),
         .sampling = {.temperature = 1.1,
                      .min_p = 0.05,
                      .repetition_penalty = 1.3,
                      .frequency_penalty = 0.2,
                      .presence_penalty = 0.1,
                      .seed = 77},
         .max_tokens = 15},
        {.tokens = prompt(5, 17),
         .sampling = {.temperature = 0, .repetition_penalty = 1.8},
         .max_tokens = 9},
        {.tokens = prompt(6, 23),
         .sampling = {.temperature = 0.8, .presence_penalty = 0.3, .seed = 9},
         .max_tokens = 18,
         .shape = never_twice_in_a_row},
    };
  }
  /// Draws even tokens alone, and none right after itself.
  static bool never_twice_in_a_row(std::span<const std::int32_t> output, std::span<float> bias) {
    for (std::size_t v = 0; v < bias.size(); ++v)
      bias[v] = v % 2 == 1 || (!output.empty() && static_cast<std::int32_t>(v) == output.back())
                    ? -std::numeric_limits<float>::infinity()
                    : 0.5f;
    return true;
  }
  /// Runs all, of which number i is submitted when `delay` i steps have been made.
  static std::vector<Told> run(Options o, std::vector<Request> all, int delay = 0) {
    o.with_logits = true;
    o.vocabulary = kVocabulary - 1;
    Engine engine(*model_, *params_, o);
    std::vector<Told> told(all.size());
    std::vector<Id> ids;
    std::size_t next = 0;
    int steps = 0;
    bool more = true;
    while (more || next < all.size()) {
      for (; next < all.size() && static_cast<int>(next) * delay <= steps; ++next) {
        Told& t = told[next];
        all[next].on_token = [&t](const Token& token) {
          EXPECT_EQ(token.position, static_cast<std::int64_t>(t.tokens.size()));
          t.tokens.push_back(token.token);
          t.logprobs.push_back(token.logprob);
          t.logits.insert(t.logits.end(), token.logits.begin(), token.logits.end());
        };
        all[next].on_end = [&t](Id, const Output&) { ++t.ends; };
        ids.push_back(engine.submit(all[next]));
      }
      more = engine.step();
      engine.check();
      ++steps;
    }
    EXPECT_EQ(engine.statistics().free_pages, engine.options().pages);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      told[i].output = engine.take(ids[i]);
      EXPECT_EQ(told[i].ends, 1);
      EXPECT_EQ(told[i].output.tokens, told[i].tokens);
    }
    return told;
  }
  static void expect_equal(const std::vector<Told>& got, const std::vector<Told>& want,
                           const char* what) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].tokens, want[i].tokens) << what << ", request " << i;
      EXPECT_EQ(got[i].logprobs, want[i].logprobs) << what << ", request " << i;
      EXPECT_TRUE(got[i].logits == want[i].logits) << what << ", logits of request " << i;
      EXPECT_EQ(got[i].output.end, want[i].output.end) << what << ", request " << i;
    }
  }
  /// Each in an engine of its own that runs one request at a time.
  static const std::vector<Told>& alone() {
    static const std::vector<Told> told = [] {
      std::vector<Told> out;
      for (const Request& r : requests()) out.push_back(run({.pages = 20, .max_batch = 1}, {r})[0]);
      return out;
    }();
    return told;
  }

  static model::ModelPtr* model_;
  static tree::Tree* params_;
};
model::ModelPtr* EngineTest::model_ = nullptr;
tree::Tree* EngineTest::params_ = nullptr;

TEST_F(EngineTest, ARequestIsTheSameInAnyBatch) {
  for (const Told& t : alone()) {
    EXPECT_EQ(t.output.end, End::max_tokens);
    EXPECT_GT(std::set<std::int32_t>(t.tokens.begin(), t.tokens.end()).size(), 2u);
    EXPECT_EQ(t.logits.size(), t.tokens.size() * static_cast<std::size_t>(kVocabulary));
  }
  expect_equal(run({.pages = 64}, requests()), alone(), "all at once");
  expect_equal(run({.pages = 64, .max_batch = 3}, requests(), 4), alone(), "one after another");
}

TEST_F(EngineTest, ARequestIsTheSameHoweverPromptsAreCutAndPagesLie) {
  expect_equal(run({.pages = 300, .page_size = 3, .max_batch = 4, .chunk = 7, .step_tokens = 10},
                   requests(), 1),
               alone(), "pieces of 7, pages of 3");
  expect_equal(run({.pages = 9, .page_size = 150, .chunk = 200, .step_tokens = 999}, requests(), 3),
               alone(), "whole prompts, pages of 150");
}

TEST_F(EngineTest, ARequestIsTheSameWhenItIsPutBack) {
  const Options scarce{
      .pages = 22, .page_size = 8, .max_batch = 5, .share_beginnings = false, .reserve = 0};
  std::vector<Request> all = requests();
  std::vector<Told> told = run(scarce, all);
  expect_equal(told, alone(), "few pages");
  // They were few indeed.
  Engine engine(*model_, *params_, scarce);
  for (const Request& r : all) engine.submit(r);
  while (engine.step()) engine.check();
  EXPECT_GT(engine.statistics().preempted, 0);
}

TEST_F(EngineTest, ThreadsChangeNoBit) {
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    expect_equal(run({.pages = 64}, requests()), alone(), "threads");
  }
  set_num_threads(before);
}

TEST_F(EngineTest, NarrowModelsKeepTheLawToo) {
  const model::ModelPtr narrow = small_model(DType::bf16);
  const auto outputs = [&](const Options& o, std::vector<Request> all) {
    Engine engine(narrow, *params_, o);
    std::vector<Id> ids;
    for (Request& r : all) ids.push_back(engine.submit(r));
    while (engine.step()) engine.check();
    std::vector<Output> out;
    for (Id id : ids) out.push_back(engine.take(id));
    return out;
  };
  const auto together = outputs(
      {.pages = 200, .page_size = 5, .chunk = 40, .vocabulary = kVocabulary - 1}, requests());
  for (std::size_t i = 0; i < together.size(); ++i) {
    const auto one =
        outputs({.pages = 20, .max_batch = 1, .vocabulary = kVocabulary - 1}, {requests()[i]})[0];
    EXPECT_EQ(one.tokens, together[i].tokens) << i;
    EXPECT_EQ(one.logprobs, together[i].logprobs) << i;
  }
}

TEST_F(EngineTest, GreedyIsTheGreedyOfForward) {
  constexpr std::int64_t kLength = 26;
  const auto logits =
      jit([&](const tree::Tree& p, const Array& t) { return (*model_)->forward(p, t); });
  const Request r = requests()[0];
  Tokens text = r.tokens;
  while (text.size() < r.tokens.size() + 20) {
    Tokens padded = text;
    padded.resize(kLength);
    const auto row =
        logits(*params_,
               array(padded, Sizes{1, kLength}))[{0, static_cast<std::int64_t>(text.size()) - 1}]
            .to_vector<float>();
    text.push_back(static_cast<std::int32_t>(
        std::max_element(row.begin(), row.begin() + kVocabulary - 1) - row.begin()));
  }
  EXPECT_EQ(Tokens(text.begin() + static_cast<std::ptrdiff_t>(r.tokens.size()), text.end()),
            alone()[0].tokens);
}

TEST_F(EngineTest, EqualBeginningsAreReadOnce) {
  std::vector<Request> all;
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    all.push_back({.tokens = prompt(8, 100), .sampling = {.seed = seed}, .max_tokens = 4});
  const auto apart = run({.pages = 40, .share_beginnings = false}, all);
  Engine engine(*model_, *params_, {.pages = 40, .vocabulary = kVocabulary - 1});
  std::vector<Output> outputs;
  for (const Request& r : all) {
    const Id id = engine.submit(r);
    while (engine.step()) engine.check();
    outputs.push_back(engine.take(id));
  }
  EXPECT_EQ(outputs[0].shared_tokens, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outputs[i].tokens, apart[i].tokens);
    EXPECT_EQ(outputs[i].logprobs, apart[i].logprobs);
    if (i > 0) EXPECT_EQ(outputs[i].shared_tokens, 99) << "all but the last one";
  }
  // Of the second and third, a token of the prompt was read and three drawn ones.
  EXPECT_EQ(engine.statistics().read, 100 + 3 + 2 * (1 + 3));
}

TEST_F(EngineTest, EndsWhereItIsToldTo) {
  const Told& whole = alone()[2];
  Request r = requests()[2];
  r.stop_tokens = {whole.tokens[6], kVocabulary - 1};
  const Told stopped = run({.pages = 20}, {r})[0];
  EXPECT_EQ(stopped.output.end, End::stop);
  const auto first = std::find(whole.tokens.begin(), whole.tokens.end(), whole.tokens[6]);
  EXPECT_EQ(stopped.tokens, Tokens(whole.tokens.begin(), first + 1));
  const Told longest = run({.pages = 20, .max_length = 9}, {requests()[2]})[0];
  EXPECT_EQ(longest.output.end, End::length);
  EXPECT_EQ(longest.tokens, Tokens(whole.tokens.begin(), whole.tokens.begin() + 8));
}

TEST_F(EngineTest, WhatShapesLogitsDecidesWhatIsDrawn) {
  const Tokens& tokens = alone()[5].tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i] % 2, 0);
    if (i > 0) EXPECT_NE(tokens[i], tokens[i - 1]);
  }
  // What is added once stays: the token that is pushed up is drawn each time.
  int calls = 0;
  Request pushed{.tokens = prompt(1, 5), .sampling = {.temperature = 0}, .max_tokens = 4};
  pushed.shape = [&](std::span<const std::int32_t> output, std::span<float> bias) {
    if (++calls > 1) return false;
    EXPECT_TRUE(output.empty());
    bias[33] = 1e4f;
    return true;
  };
  EXPECT_EQ(run({.pages = 20}, {pushed})[0].tokens, Tokens({33, 33, 33, 33}));
}

TEST_F(EngineTest, OneRequestCanAskForLogits) {
  Engine engine(*model_, *params_, {.pages = 40, .vocabulary = kVocabulary - 1});
  std::vector<float> logits;
  Request with = requests()[0], without = requests()[1];
  with.with_logits = true;
  with.on_token = [&](const Token& t) {
    logits.insert(logits.end(), t.logits.begin(), t.logits.end());
  };
  without.on_token = [](const Token& t) { EXPECT_TRUE(t.logits.empty()); };
  engine.submit(with);
  engine.submit(without);
  while (engine.step()) {
  }
  EXPECT_TRUE(logits == alone()[0].logits);
}

TEST_F(EngineTest, GoesOnWithATextAsIfNotInterrupted) {
  const Told& whole = alone()[1];
  Request r = requests()[1];
  r.tokens.insert(r.tokens.end(), whole.tokens.begin(), whole.tokens.begin() + 5);
  r.first_position = 5;
  r.max_tokens = 7;
  const Told rest = run({.pages = 20}, {r})[0];
  EXPECT_EQ(rest.tokens, Tokens(whole.tokens.begin() + 5, whole.tokens.end()));
  EXPECT_EQ(rest.logprobs, std::vector<float>(whole.logprobs.begin() + 5, whole.logprobs.end()));
}

TEST_F(EngineTest, LogitsThatAreNoNumbersEndTheirRequestAlone) {
  std::vector<Request> all = requests();
  Request bad{.tokens = prompt(9, 40), .sampling = {.temperature = 0}};
  bad.tokens[20] = kPoison;
  all.insert(all.begin() + 1, bad);
  // Pages that held NaN are used again.
  std::vector<Told> told = run({.pages = 30, .max_batch = 2}, all);
  EXPECT_EQ(told[1].output.end, End::error);
  EXPECT_THAT(told[1].output.error,
              HasSubstr("the logits of token 0 of the output are not finite"));
  EXPECT_TRUE(told[1].tokens.empty());
  told.erase(told.begin() + 1);
  expect_equal(told, alone(), "beside NaN");
}

TEST_F(EngineTest, CancellingFreesPages) {
  Engine engine(*model_, *params_, {.pages = 30, .max_batch = 2});
  std::vector<Id> ids;
  for (const Request& r : requests()) ids.push_back(engine.submit(r));
  int ends = 0;
  Request self{.tokens = prompt(7, 3), .max_tokens = 1000};
  Id last = 0;
  self.on_token = [&](const Token& t) {
    if (t.position == 2) EXPECT_TRUE(engine.cancel(t.id)) << "from within a call";
  };
  self.on_end = [&](Id id, const Output& o) {
    ++ends;
    EXPECT_EQ(id, last);
    EXPECT_EQ(o.end, End::cancelled);
    EXPECT_EQ(o.tokens.size(), 3u);
  };
  last = engine.submit(self);
  for (int i = 0; i < 3; ++i) engine.step();
  EXPECT_LT(engine.statistics().free_pages, 30);
  for (Id id : ids) {
    EXPECT_TRUE(engine.cancel(id));
    EXPECT_FALSE(engine.cancel(id));
    engine.check();
  }
  EXPECT_EQ(engine.statistics().free_pages, 30);
  EXPECT_EQ(engine.take(ids[4]).end, End::cancelled) << "while it waited";
  while (engine.step()) engine.check();
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(engine.statistics().free_pages, 30);
}

TEST_F(EngineTest, ResetForgetsAllAndTellsNobody) {
  Engine engine(*model_, *params_, {.pages = 30, .max_batch = 2});
  std::vector<Request> all = requests();
  int calls = 0;
  all[0].on_token = [&](const Token&) -> void { throw std::runtime_error("a listener throws"); };
  for (Request& r : all) {
    r.on_end = [&](Id, const Output&) { ++calls; };
    engine.submit(r);
  }
  EXPECT_THROW(while (engine.step()){}, std::runtime_error);
  engine.check();
  engine.reset();
  engine.check();
  EXPECT_EQ(engine.statistics().free_pages, 30);
  EXPECT_FALSE(engine.step());
  EXPECT_EQ(calls, 0);
  // It is as good as new.
  Request again = requests()[4];
  const Id id = engine.submit(again);
  while (engine.step()) {
  }
  EXPECT_EQ(engine.take(id).tokens, alone()[4].tokens);
}

/// A model that fails once, when a step of one token is traced.
class FailsOnce : public model::Model {
 public:
  explicit FailsOnce(model::ModelPtr model) : model_(std::move(model)) {}
  std::string family() const override { return model_->family(); }
  std::int64_t vocab_size() const override { return model_->vocab_size(); }
  DType dtype() const override { return model_->dtype(); }
  tree::Tree init(const Array& key) const override { return model_->init(key); }
  Array forward(const tree::Tree& p, const Array& t) const override {
    return model_->forward(p, t);
  }
  tree::Tree init_cache(std::int64_t batch, std::int64_t length) const override {
    return model_->init_cache(batch, length);
  }
  std::pair<Array, tree::Tree> extend(const tree::Tree& p, const Array& t, const Array& first,
                                      const tree::Tree& cache,
                                      const std::optional<Array>& only) const override {
    return model_->extend(p, t, first, cache, only);
  }
  tree::Tree init_pages(std::int64_t pages, std::int64_t page_size) const override {
    return model_->init_pages(pages, page_size);
  }
  std::pair<Array, tree::Tree> extend_pages(const tree::Tree& p, const model::Batch& batch,
                                            const tree::Tree& cache, bool all) const override {
    if (batch.tokens.shape(1) == 1 && !failed_) {
      failed_ = true;
      throw Error("FailsOnce", "as if memory were short");
    }
    return model_->extend_pages(p, batch, cache, all);
  }
  double flops_per_step(std::int64_t batch, std::int64_t length) const override {
    return model_->flops_per_step(batch, length);
  }

 private:
  model::ModelPtr model_;
  mutable bool failed_ = false;
};

TEST_F(EngineTest, AStepThatFailsLeavesAnEmptyEngine) {
  Engine engine(std::make_shared<const FailsOnce>(*model_), *params_,
                {.pages = 40, .vocabulary = kVocabulary - 1});
  for (const Request& r : requests()) engine.submit(r);
  EXPECT_THROW(while (engine.step()){}, Error);
  engine.check();
  EXPECT_EQ(engine.statistics().free_pages, 40);
  EXPECT_FALSE(engine.step());
  // Nothing that was read is found: the cache is another one.
  const Id id = engine.submit(requests()[1]);
  while (engine.step()) engine.check();
  const Output out = engine.take(id);
  EXPECT_EQ(out.tokens, alone()[1].tokens);
  EXPECT_EQ(out.shared_tokens, 0);
}

TEST_F(EngineTest, RandomSchedulesLoseNoPage) {
  const char* rounds = std::getenv("STRATA_ENGINE_ROUNDS");
  const int turns = rounds == nullptr ? 300 : 300 * std::atoi(rounds);
  Clock::time_point time{};
  Engine engine(*model_, *params_,
                {.pages = 24,
                 .page_size = 4,
                 .max_batch = 4,
                 .chunk = 8,
                 .step_tokens = 12,
                 .reserve = 0,
                 .speculation = {.method = Speculation::Method::suffix, .tokens = 3},
                 .now = [&] { return time; }});
  std::mt19937 random(5);
  std::vector<Id> ids;
  std::size_t tokens = 0, told = 0, ends = 0;
  for (int turn = 0; turn < turns; ++turn) {
    time += std::chrono::seconds(1);
    if (turn < turns * 2 / 3 && random() % 3 == 0) {
      Request r{.tokens = prompt(random() % 4, 1 + random() % 60),
                .sampling = {.seed = random()},
                .max_tokens = static_cast<std::int64_t>(1 + random() % 30)};
      if (random() % 5 == 0) r.deadline = time + std::chrono::seconds(random() % 60);
      if (random() % 5 == 0) r.prompt_logprobs = 1;
      r.priority = static_cast<std::int64_t>(random() % 2);
      r.salt = random() % 4 == 0 ? "salt" : "";
      r.on_token = [&](const Token& t) {
        ++told;
        if (t.token % 50 == 7) engine.cancel(t.id);  // as who goes away
      };
      r.on_end = [&](Id, const Output&) { ++ends; };
      for (Id id : engine.submit(r, random() % 6 == 0 ? 3 : 1)) ids.push_back(id);
    }
    if (!ids.empty() && random() % 17 == 0) {
      const std::int64_t before = engine.statistics().used_pages;
      engine.cancel(ids[random() % ids.size()]);
      EXPECT_LE(engine.statistics().used_pages, before);
    }
    if (turn % 97 == 96) engine.set_params(*params_);
    engine.step();
    engine.check();
  }
  while (engine.step()) engine.check();
  EXPECT_EQ(engine.statistics().free_pages, 24);
  EXPECT_EQ(ends, ids.size());
  std::int64_t ended = 0;
  for (const std::int64_t n : engine.statistics().ended) ended += n;
  EXPECT_EQ(ended, static_cast<std::int64_t>(ids.size()));
  for (Id id : ids) tokens += engine.take(id).tokens.size();
  EXPECT_GE(tokens, told);
  EXPECT_GT(told, 200u);
  EXPECT_GT(engine.statistics().preempted, 0);
}

TEST_F(EngineTest, RefusesWhatCanNeverRun) {
  Engine engine(*model_, *params_, {.pages = 2, .page_size = 8});
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto submit = [&](Request r) { return message([&] { engine.submit(r); }); };
  EXPECT_THAT(submit({}), HasSubstr("one token at least"));
  EXPECT_THAT(submit({.tokens = prompt(1, 16)}),
              HasSubstr("16 tokens leaves no room below max_length=16"));
  EXPECT_THAT(submit({.tokens = {1, kVocabulary}}), HasSubstr("token 61 is not in [0, 61)"));
  EXPECT_THAT(submit({.tokens = {1}, .max_tokens = 0}), HasSubstr("max_tokens"));
  EXPECT_THAT(submit({.tokens = {1}, .stop_tokens = {-1}}), HasSubstr("token -1"));
  EXPECT_THAT(submit({.tokens = {1}, .sampling = {.top_p = 2}}), HasSubstr("top_p"));
  EXPECT_THAT(message([&] { engine.take(1); }), HasSubstr("no request 1"));
  EXPECT_FALSE(engine.step());
  EXPECT_THAT(message([&] { Engine(*model_, *params_, {.pages = 0}); }),
              HasSubstr("pages must be"));
  EXPECT_THAT(message([&] { Engine(*model_, *params_, {.vocabulary = 62}); }),
              HasSubstr("vocabulary=62"));
}

}  // namespace
}  // namespace strata::engine
