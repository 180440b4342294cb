// What is guessed, by hand-made texts; that guesses change no token, and are right where they can
// be.
#include "strata/engine/speculate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/speculate/suffix_tree.h"
#include "strata/engine/testing/small_model.h"

namespace strata::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Method = Speculation::Method;
using Tokens = std::vector<std::int32_t>;

TEST(Ngram, IsWhatStoodBehindTheLongestEqualEnd) {
  const Tokens text = {1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3};
  EXPECT_THAT(guess_by_ngram(text, 4, 2, 3), ElementsAre(7, 9, 2)) << "three equal tokens";
  EXPECT_THAT(guess_by_ngram(text, 2, 2, 2), ElementsAre(8, 1)) << "the latest of two";
  EXPECT_THAT(guess_by_ngram(text, 4, 4, 3), ElementsAre());
  EXPECT_THAT(guess_by_ngram(Tokens{5, 5, 5}, 4, 1, 4), ElementsAre(5, 5, 5, 5)) << "goes on";
  EXPECT_THAT(guess_by_ngram(Tokens{1, 2, 1, 2}, 3, 2, 3), ElementsAre(1, 2, 1));
  EXPECT_THAT(guess_by_ngram(Tokens{1}, 3, 1, 3), ElementsAre());
  EXPECT_THAT(guess_by_ngram(Tokens{}, 3, 1, 3), ElementsAre());
}

TEST(SuffixTree, GuessesTheLikeliestAndForgets) {
  SuffixTree tree(4);
  const Tokens a = {1, 2, 3, 4}, b = {9, 2, 3, 5}, c = {8, 2, 3, 5};
  for (const Tokens* t : {&a, &b, &c}) tree.add(*t, 0, 4, 1);
  EXPECT_THAT(tree.guess(Tokens{7, 2}, 4, 0.5).tokens, ElementsAre(3, 5));
  EXPECT_THAT(tree.guess(Tokens{7, 2}, 4, 0.7).tokens, ElementsAre(3)) << "5 in two of three";
  EXPECT_THAT(tree.guess(Tokens{1, 2}, 4, 0.7).tokens, ElementsAre(3, 4)) << "the longer end";
  EXPECT_THAT(tree.guess(Tokens{1, 2}, 1, 0).tokens, ElementsAre(3));
  EXPECT_THAT(tree.guess(Tokens{6}, 4, 0).tokens, ElementsAre());
  tree.add(b, 0, 4, -1);
  EXPECT_THAT(tree.guess(Tokens{2}, 4, 0.5).tokens, ElementsAre(3, 4)) << "of equal ones the first";
  tree.add(a, 0, 4, -1);
  EXPECT_THAT(tree.guess(Tokens{2}, 4, 0.5).tokens, ElementsAre(3, 5));
  tree.add(c, 0, 4, -1);
  EXPECT_TRUE(tree.empty());
}

TEST(SuffixTree, PiecesAreTheWhole) {
  const Tokens text = testing::prompt(3, 60, 3);
  SuffixTree whole(5), pieces(5);
  whole.add(text, 0, 60, 1);
  for (std::size_t from = 0; from < 60; from += 7)
    pieces.add(std::span(text).first(std::min<std::size_t>(from + 7, 60)), from,
               std::min<std::size_t>(from + 7, 60), 1);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Tokens end = testing::prompt(seed, 4, 3);
    EXPECT_EQ(whole.guess(end, 4, 0.2).tokens, pieces.guess(end, 4, 0.2).tokens);
  }
  pieces.add(text, 0, 60, -1);
  EXPECT_TRUE(pieces.empty());
}

class SpeculateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  const model::ModelPtr model = testing::small_model();
  const tree::Tree params = testing::weights(*model);
  std::vector<Request> requests() const {
    std::vector<Request> out;
    for (unsigned i = 0; i < 5; ++i)
      out.push_back({.tokens = testing::prompt(i, 10 + 6 * i, 4),
                     .sampling = {.temperature = i % 2 == 0 ? 0.0 : 0.5, .seed = i},
                     .max_tokens = 60});
    out[3].sampling.repetition_penalty = 1.1;
    out[4].speculate = false;
    return out;
  }
  std::vector<Output> run(const Speculation& how, Statistics* statistics = nullptr) const {
    Engine engine(model, params, {.pages = 64, .speculation = how});
    std::vector<Output> out = testing::outputs(engine, requests());
    if (statistics != nullptr) *statistics = engine.statistics();
    return out;
  }
};

TEST_F(SpeculateTest, GuessesChangeNoTokenAndSaveSteps) {
  Statistics plain;
  const std::vector<Output> want = run({}, &plain);
  EXPECT_EQ(plain.guessed, 0);
  for (const Method method : {Method::ngram, Method::suffix, Method::model}) {
    Statistics s;
    Speculation how{.method = method, .tokens = 5};
    if (method == Method::model) how.model = model, how.params = params;
    const std::vector<Output> got = run(how, &s);
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].tokens, want[i].tokens) << static_cast<int>(method) << ", request " << i;
      EXPECT_EQ(got[i].logprobs, want[i].logprobs) << static_cast<int>(method);
    }
    EXPECT_EQ(got[4].guessed, 0) << "it does not want them";
    EXPECT_GT(s.accepted, 0);
    EXPECT_LE(s.accepted, s.guessed);
    EXPECT_EQ(s.drawn, plain.drawn);
    std::int64_t by_place = 0, most = s.guesses;
    for (const std::int64_t n : s.accepted_at) {
      EXPECT_LE(n, most) << "a guess is right only behind right ones";
      by_place += n, most = n;
    }
    EXPECT_EQ(by_place, s.accepted);
  }
}

TEST_F(SpeculateTest, AModelGuessesItsOwnDrawsRight) {
  // Same noise, same weights: all guesses are right, drawn at random or not, where draws depend on
  // nothing but the tokens.
  std::vector<Request> all = requests();
  all[3].sampling.repetition_penalty = 1;
  Engine engine(
      model, params,
      {.pages = 64,
       .speculation = {.method = Method::model, .tokens = 3, .model = model, .params = params}});
  testing::outputs(engine, all);
  const Statistics s = engine.statistics();
  EXPECT_GT(s.guessed, 100);
  EXPECT_EQ(s.accepted, s.guessed);
}

TEST_F(SpeculateTest, OutputsOfOthersAreGuessedUnlessSalted) {
  Engine engine(
      model, params,
      {.pages = 64, .share_beginnings = false, .speculation = {.method = Method::suffix}});
  Request r{.tokens = testing::prompt(9, 12),
            .sampling = {.temperature = 0.9, .seed = 1},
            .max_tokens = 40};
  r.salt = "mine";
  const Output salted = testing::outputs(engine, {r})[0];
  r.salt = "";
  const Output first = testing::outputs(engine, {r})[0], second = testing::outputs(engine, {r})[0];
  EXPECT_EQ(first.tokens, salted.tokens);
  EXPECT_EQ(second.tokens, first.tokens);
  EXPECT_EQ(first.accepted, salted.accepted) << "another's salted output is not known";
  EXPECT_GT(second.accepted, first.accepted + 12);
}

TEST_F(SpeculateTest, RefusesWhatDoesNotFit) {
  const auto message = [&](const Speculation& how) -> std::string {
    try {
      Engine(model, params, {.speculation = how});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message({.method = Method::ngram, .tokens = 0}),
              HasSubstr("tokens must be in [1, 32]"));
  EXPECT_THAT(message({.method = Method::ngram, .longest = 1, .shortest = 2}),
              HasSubstr("longest must be in [2, 64], got 1"));
  EXPECT_THAT(message({.method = Method::suffix, .least_probability = 2}),
              HasSubstr("least_probability"));
  EXPECT_THAT(message({.method = Method::model}), HasSubstr("a draft model is needed"));
}

}  // namespace
}  // namespace strata::engine
