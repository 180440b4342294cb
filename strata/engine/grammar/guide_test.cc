#include "strata/engine/grammar/guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/json_schema.h"
#include "strata/engine/grammar/regex.h"

namespace strata::engine::grammar {
namespace {

/// Words of one and more bytes, pieces of characters, and tokens without bytes.
std::vector<std::string> words(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<std::string> out = {""};
  for (int b = 0; b < 256; ++b) out.push_back(std::string(1, static_cast<char>(b)));
  const std::vector<std::string> pieces = {"{",  "}", "\"", ":", ",",    " ",    "a",
                                           "b",  "x", "1",  "0", "true", "null", "\n",
                                           "\\", "é", "[",  "]", "-",    "."};
  for (int i = 0; i < count; ++i) {
    std::string s;
    for (std::uint64_t n = random() % 5 + 1; n > 0; --n) s += pieces[random() % pieces.size()];
    if (random() % 8 == 0) s.pop_back();
    out.push_back(s);
  }
  return out;
}

std::vector<Grammar> grammars() {
  std::vector<Grammar> out;
  out.push_back(any_json_object());
  out.push_back(parse_json_schema(R"({"type": "object", "properties": {"a": {"type": "number",
      "minimum": -1, "maximum": 10}, "b": {"type": "array", "items": {"enum": ["x", "é", null]}}},
      "required": ["a"], "additionalProperties": {"type": "string", "maxLength": 5}})"));
  out.push_back(read_ebnf("root ::= \"[\" root? (\",\" root)* \"]\" | [a-bé]{1,4} | \"true\""));
  Grammar g;
  g.define(g.root(), regex(g, "(a|b|x1|null)*\\.{0,3}"));
  out.push_back(g);
  return out;
}

/// The slow twin: whether the automaton lives on behind each token's bytes.
std::set<std::int32_t> tried(Automaton& automaton, const std::string& text,
                             const Vocabulary& vocabulary) {
  Automaton::State from = automaton.start();
  for (char c : text) from = automaton.next(from, static_cast<unsigned char>(c));
  std::set<std::int32_t> out;
  for (std::int32_t t = 0; t < vocabulary.size(); ++t) {
    if (vocabulary.bytes(t).empty()) continue;
    Automaton::State s = from;
    for (char c : vocabulary.bytes(t)) s = automaton.next(s, static_cast<unsigned char>(c));
    if (s != Automaton::kDead) out.insert(t);
  }
  return out;
}

std::set<std::int32_t> members(const Guide::Next& next) {
  std::set<std::int32_t> out;
  for (std::size_t w = 0; w < next.tokens.size(); ++w)
    for (std::size_t b = 0; b < 64; ++b)
      if (next.tokens[w] >> b & 1) out.insert(static_cast<std::int32_t>(w * 64 + b));
  return out;
}

TEST(Vocabulary, IsATreeOfItsTokens) {
  const Vocabulary v({"ab", "", "a", "abc", "b", "ab"});
  std::string bytes;
  for (const auto& p : v.places()) bytes += static_cast<char>(p.byte);
  EXPECT_EQ(bytes, "abcb");
  EXPECT_EQ(v.places()[0].behind, 3);
  EXPECT_EQ(v.places()[1].count, 2);
  EXPECT_EQ(v.places()[3].depth, 0);
}

TEST(Guide, SetsAreThoseOfTokensTriedOneByOne) {
  const auto vocabulary = std::make_shared<const Vocabulary>(words(1, 500));
  std::mt19937_64 random(2);
  int texts = 0;
  for (const Grammar& grammar : grammars()) {
    Automaton automaton(grammar);
    Guide guide(grammar, vocabulary);
    for (int round = 0; round < 20; ++round) {
      Guide::Path path;
      Guide::Next next;
      std::vector<std::int32_t> tokens;
      std::string text;
      for (int step = 0; step < 30; ++step) {
        guide.follow(path, tokens, next);
        const std::set<std::int32_t> all = members(next);
        ASSERT_EQ(all, tried(automaton, text, *vocabulary)) << text;
        ASSERT_EQ(next.may_end, automaton.accepts(text)) << text;
        ASSERT_TRUE(next.may_end || !all.empty()) << text;
        if (all.empty()) break;
        auto it = all.begin();
        std::advance(it, static_cast<std::ptrdiff_t>(random() % all.size()));
        tokens.push_back(*it);
        text += vocabulary->bytes(*it);
        ++texts;
        if (random() % 4 == 0) {  // goes back, as guesses do
          const std::size_t back = random() % (tokens.size() + 1);
          tokens.resize(back);
          text.clear();
          for (std::int32_t t : tokens) text += vocabulary->bytes(t);
        }
      }
    }
  }
  EXPECT_GT(texts, 1000);
}

TEST(Guide, EveryCompletedTextOfASchemaParses) {
  const auto vocabulary = std::make_shared<const Vocabulary>(words(3, 300));
  Guide guide(any_json_object(), vocabulary);
  std::mt19937_64 random(4);
  int whole = 0;
  for (int round = 0; round < 200; ++round) {
    Guide::Path path;
    Guide::Next next;
    std::vector<std::int32_t> tokens;
    std::string text;
    for (int step = 0; step < 200; ++step) {
      guide.follow(path, tokens, next);
      if (next.may_end) {
        EXPECT_TRUE(nlohmann::json::parse(text, nullptr, false).is_object()) << text;
        ++whole;
        break;
      }
      // Mostly the token that ends most.
      std::vector<std::int32_t> all;
      for (std::int32_t t : members(next)) all.push_back(t);
      ASSERT_FALSE(all.empty()) << text;
      std::int32_t pick = all[random() % all.size()];
      for (std::int32_t t : all)
        if (random() % 2 == 0 && (vocabulary->bytes(t) == "}" || vocabulary->bytes(t) == "\"" ||
                                  vocabulary->bytes(t) == "]"))
          pick = t;
      tokens.push_back(pick);
      text += vocabulary->bytes(pick);
    }
  }
  EXPECT_GT(whole, 100);
}

TEST(Guide, AShapeLetsATextEndWhereItIsWholeAndNowhereElse) {
  const auto vocabulary =
      std::make_shared<const Vocabulary>(std::vector<std::string>{"", "a", "b", "ab", "", "c"});
  const auto guide = std::make_shared<Guide>(read_ebnf("root ::= \"ab\" \"c\"?"), vocabulary);
  const auto shape = shape_of(guide, {4});
  const float no = -std::numeric_limits<float>::infinity();
  const auto ask = [&](std::vector<std::int32_t> output) {
    std::vector<float> bias(6);
    EXPECT_TRUE(shape(output, bias));
    return bias;
  };
  EXPECT_EQ(ask({}), (std::vector<float>{no, 0, no, 0, no, no}));
  EXPECT_EQ(ask({1}), (std::vector<float>{no, no, 0, no, no, no}));
  EXPECT_EQ(ask({3}), (std::vector<float>{no, no, no, no, 0, 0}));
  EXPECT_EQ(ask({1, 2, 5}), (std::vector<float>{no, no, no, no, 0, no}));
  EXPECT_EQ(ask({1, 2, 4}), (std::vector<float>{no, no, no, no, 0, no})) << "behind the end";
  EXPECT_EQ(ask({2}), std::vector<float>(6, no)) << "a guess that does not fit";
  EXPECT_EQ(ask({1}), (std::vector<float>{no, no, 0, no, no, no})) << "and back again";
}

TEST(Guide, ForgetsStatesAndGoesOn) {
  // Each count of x is a state of its own, so that there are more than are kept.
  const auto vocabulary =
      std::make_shared<const Vocabulary>(std::vector<std::string>{"x", "y", std::string(64, 'x')});
  Guide guide(read_ebnf("root ::= (\"x\"{0,10000} \"y\"){8}"), vocabulary);
  Guide::Path path, other;
  Guide::Next next;
  std::vector<std::int32_t> tokens, few = {0, 1};
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 150; ++j) tokens.push_back(2);
    guide.follow(path, tokens, next);
    EXPECT_EQ(members(next), (std::set<std::int32_t>{0, 1, 2}));
    guide.follow(other, few, next);
    EXPECT_EQ(members(next), (std::set<std::int32_t>{0, 1, 2}));
    tokens.push_back(1);
  }
  guide.follow(path, tokens, next);
  EXPECT_TRUE(next.must_end);
}

}  // namespace
}  // namespace strata::engine::grammar
