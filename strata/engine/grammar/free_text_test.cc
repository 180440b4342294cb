// Free text ends where one of its strings first does.
#include "strata/engine/grammar/free_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"

namespace strata::engine::grammar {
namespace {

Grammar grammar(const std::vector<std::string>& strings, const std::string& behind, bool may_end) {
  Grammar g;
  std::vector<FreeEnd> ends;
  for (const std::string& s : strings) {
    ends.push_back({s, g.add_rule("behind")});
    g.define(ends.back().next, g.text(behind));
  }
  g.define(g.root(), free_until(g, ends, may_end));
  return g;
}

TEST(FreeText, EndsWithTheFirstString) {
  Automaton a(grammar({"x = "}, "4", true));
  EXPECT_TRUE(a.accepts(""));
  EXPECT_TRUE(a.accepts("so what, x ="));
  EXPECT_TRUE(a.accepts("so x x = 4"));
  EXPECT_FALSE(a.accepts("so x = 5"));
  EXPECT_FALSE(a.accepts("so x = 4 "));
  EXPECT_FALSE(Automaton(grammar({"x"}, "", false)).accepts("so"));
  // However long it is, nothing is nested.
  EXPECT_TRUE(a.accepts(std::string(100000, 'x') + " = 4"));
  EXPECT_THROW(grammar({""}, "", true), Error);
  EXPECT_THROW(grammar({std::string(1 << 15, 'a')}, "", true), Error);
}

TEST(FreeText, MayBeFreeUnlessItBeginsSo) {
  Grammar g;
  const Grammar::Rule one = g.add_rule("one"), two = g.add_rule("two");
  g.define(one, g.text("1]"));
  g.define(two, g.text("2]"));
  g.define(g.root(), free_unless_begun(g, {{"[f(", one}, {"[go(", two}}));
  Automaton a(g);
  for (const char* text : {"", "[", "[f", "[fo(", "a [f(", "[g [go(", "[f(1]", "[go(2]"})
    EXPECT_TRUE(a.accepts(text)) << text;
  for (const char* text : {"[f(", "[f(2]", "[go(1]", "[f(1] "})
    EXPECT_FALSE(a.accepts(text)) << text;
}

TEST(FreeText, IsWhatASearchFinds) {
  std::mt19937 random(3);
  const auto word = [&](std::size_t most) {
    std::string out;
    for (std::size_t i = 1 + random() % most; i > 0; --i)
      out += static_cast<char>('a' + random() % 2);
    return out;
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> strings;
    for (std::size_t i = 1 + random() % 3; i > 0; --i) strings.push_back(word(4));
    Automaton a(grammar(strings, "c", false));
    for (int i = 0; i < 60; ++i) {
      const std::string text = word(8);
      // The first place at which some string ends must be the end.
      std::size_t end = text.npos;
      for (const std::string& s : strings)
        if (const std::size_t at = text.find(s); at != text.npos)
          end = std::min(end, at + s.size());
      EXPECT_EQ(a.accepts(text + "c"), end == text.size()) << text << " of " << strings[0];
    }
  }
}

}  // namespace
}  // namespace strata::engine::grammar
