// Outputs that are kept in a grammar by the engine: they are whole texts of it, and the same beside
// others, with guesses and in few pages.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/guide.h"
#include "strata/engine/testing/small_model.h"

namespace strata::engine {
namespace {

constexpr std::int32_t kEnd = 60;

std::shared_ptr<const grammar::Vocabulary> vocabulary() {
  std::vector<std::string> words(testing::kVocabulary);
  const std::string letters = "abcdefgh()[]{},:0123456789";
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    words[i] = i < letters.size() ? std::string(1, letters[i])
                                  : std::string(1, letters[i % 7]) + letters[(i * 5) % 26];
  return std::make_shared<const grammar::Vocabulary>(std::move(words));
}

constexpr const char* kList =
    "root ::= \"[\" item (\",\" item){0,4} \"]\"\nitem ::= [a-h]{1,3} | [0-9]{2} | \"(\" root "
    "\")\"";

std::vector<Request> requests(const std::shared_ptr<grammar::Guide>& guide, int count) {
  std::vector<Request> out;
  for (int i = 0; i < count; ++i) {
    Request r{
        .tokens = testing::prompt(static_cast<unsigned>(i), 5 + static_cast<std::size_t>(i) % 9),
        .sampling = {.temperature = i % 3 == 0 ? 0.0 : 0.8,
                     .repetition_penalty = i % 4 == 1 ? 1.2 : 1.0,
                     .seed = static_cast<std::uint64_t>(i)},
        .max_tokens = 40,
        .stop_tokens = {kEnd}};
    if (i % 5 != 4) {
      r.shape = grammar::shape_of(guide, {kEnd});
      r.shape_takes_guesses = true;
    }
    out.push_back(std::move(r));
  }
  return out;
}

TEST(Guided, OutputsAreTextsOfTheGrammarAndTheSameHoweverTheyAreDrawn) {
  compile::register_cpu();
  const model::ModelPtr model = testing::small_model();
  const tree::Tree params = testing::weights(*model);
  const auto words = vocabulary();
  const auto guide = std::make_shared<grammar::Guide>(grammar::read_ebnf(kList), words);
  grammar::Automaton automaton(grammar::read_ebnf(kList));
  std::vector<Output> alone;
  {
    Engine engine(model, params, {.pages = 40});
    for (const Request& r : requests(guide, 15)) alone.push_back(testing::outputs(engine, {r})[0]);
  }
  int whole = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (i % 5 == 4) continue;
    ASSERT_NE(alone[i].end, End::error) << alone[i].error;
    std::string text;
    grammar::Automaton::State s = automaton.start();
    for (std::int32_t t : alone[i].tokens)
      if (t != kEnd) text += words->bytes(t);
    for (char c : text) s = automaton.next(s, static_cast<unsigned char>(c));
    EXPECT_NE(s, grammar::Automaton::kDead) << text;
    if (alone[i].end == End::stop) EXPECT_TRUE(automaton.may_end(s)) << text;
    whole += alone[i].end == End::stop;
  }
  EXPECT_GE(whole, 6);
  for (const bool guesses : {false, true}) {
    Engine engine(
        model, params,
        {.pages = 24,
         .page_size = 4,
         .max_batch = 6,
         .chunk = 8,
         .speculation = {.method = guesses ? Speculation::Method::ngram : Speculation::Method::none,
                         .shortest = 1}});
    const std::vector<Output> beside = testing::outputs(engine, requests(guide, 15));
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(beside[i].tokens, alone[i].tokens) << i;
      EXPECT_EQ(beside[i].logprobs, alone[i].logprobs) << i;
    }
    if (guesses) {
      EXPECT_GT(engine.statistics().guessed, 20);
      EXPECT_GT(engine.statistics().accepted, 0);
    }
  }
}

TEST(Guided, ARequestThatCannotGoOnEndsWithAnError) {
  compile::register_cpu();
  const model::ModelPtr model = testing::small_model();
  std::vector<std::string> words(testing::kVocabulary);
  words[3] = "a";
  const auto guide = std::make_shared<grammar::Guide>(
      grammar::read_ebnf("root ::= \"ab\""),
      std::make_shared<const grammar::Vocabulary>(std::move(words)));
  Engine engine(model, testing::weights(*model), {.pages = 8});
  Request r{.tokens = {1, 2}, .stop_tokens = {kEnd}, .shape = grammar::shape_of(guide, {kEnd})};
  const Output out = testing::outputs(engine, {r})[0];
  EXPECT_EQ(out.end, End::error);
  EXPECT_EQ(out.error, "no token may be token 1 of the output");
  EXPECT_EQ(out.tokens, (std::vector<std::int32_t>{3}));
}

}  // namespace
}  // namespace strata::engine
