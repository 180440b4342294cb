#include "strata/engine/grammar/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/lark.h"
#include "strata/engine/grammar/regex.h"

namespace strata::engine::grammar {
namespace {

using testing::HasSubstr;

Automaton regex_automaton(const std::string& pattern, bool whole = true) {
  Grammar g;
  g.define(g.root(), regex(g, pattern, {.whole = whole}));
  return Automaton(g);
}
bool matches(const std::string& pattern, const std::string& text, bool whole = true) {
  return regex_automaton(pattern, whole).accepts(text);
}
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(e.message());
  }
  return "none";
}

TEST(CharacterSet, SetsOfCodePoints) {
  CharacterSet s{{'a', 'c'}, {'x', 'z'}};
  s.add('d', 'w');
  EXPECT_EQ(s, (CharacterSet{{'a', 'z'}}));
  EXPECT_EQ(s.without({{'m', 'm'}}), (CharacterSet{{'a', 'l'}, {'n', 'z'}}));
  EXPECT_EQ(s.complement().complement(), s);
  EXPECT_FALSE(s.complement().contains(0xD800));
  EXPECT_TRUE((CharacterSet{{'k', 'k'}}.in_both_cases().contains('K')));
}

TEST(Grammar, EveryCharacterIsItsUtf8AndNothingElseIs) {
  Grammar g;
  g.define(g.root(), g.characters(CharacterSet::all()));
  Automaton all(g);
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x900 ? 1 : 97) {
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    if (!surrogate) EXPECT_TRUE(all.accepts(utf8(c))) << static_cast<std::uint32_t>(c);
  }
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "", "ab"})
    EXPECT_FALSE(all.accepts(bad)) << bad;
  Grammar h;
  h.define(h.root(), h.characters({{0x7F0, 0x1234}, {0xFFFF, 0x10003}}));
  Automaton some(h);
  for (char32_t c = 0x700; c <= 0x10100; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const bool in = (c >= 0x7F0 && c <= 0x1234) || (c >= 0xFFFF && c <= 0x10003);
    EXPECT_EQ(some.accepts(utf8(c)), in) << static_cast<std::uint32_t>(c);
  }
}

TEST(Automaton, RulesNestAndRepeat) {
  Automaton a(read_ebnf("root ::= \"(\" root \")\" | \"x\"{2,3}"));
  EXPECT_TRUE(a.accepts("((xx))"));
  EXPECT_TRUE(a.accepts("xxx"));
  EXPECT_FALSE(a.accepts("((xx)"));
  EXPECT_FALSE(a.accepts("(xxxx)"));
  EXPECT_FALSE(a.accepts(""));
  const std::string deep(200, '('), too_deep(300, '(');
  EXPECT_TRUE(a.accepts(deep + "xx" + std::string(200, ')')));
  EXPECT_FALSE(a.accepts(too_deep + "xx" + std::string(300, ')')));
}

TEST(Automaton, ARuleThatEndsWithItselfNeedsNoDepth) {
  Automaton a(read_ebnf("root ::= \"a\" root | \"b\""));
  EXPECT_TRUE(a.accepts(std::string(5000, 'a') + "b"));
}

TEST(Automaton, LeftRecursion) {
  Automaton sums(read_lark(
      "start: sum\nsum: product | sum \"+\" product\nproduct: /[0-9]/ | product \"*\" /[0-9]/"));
  EXPECT_TRUE(sums.accepts("1+2*3+4"));
  EXPECT_FALSE(sums.accepts("1+*3"));
  EXPECT_THAT(error_of([] { Automaton(read_ebnf("root ::= a\na ::= b \"x\"\nb ::= a | \"y\"")); }),
              HasSubstr("begins with itself"));
  EXPECT_THAT(error_of([] { Automaton(read_ebnf("root ::= \"x\"? root \"y\" | \"z\"")); }),
              HasSubstr("begins with itself"));
}

TEST(Automaton, WaysThatCannotEndAreNotBegun) {
  Automaton a(read_ebnf("root ::= \"a\" never | \"b\"\nnever ::= \"c\" never"));
  EXPECT_EQ(a.next(a.start(), 'a'), Automaton::kDead);
  EXPECT_TRUE(a.accepts("b"));
  EXPECT_THAT(error_of([] { Automaton(read_ebnf("root ::= \"c\" root")); }), HasSubstr("no text"));
}

TEST(Automaton, KeepsBoundsOnWhatIsAmbiguous) {
  // Each x may be read in several ways at every depth.
  Automaton a(read_ebnf("root ::= s\ns ::= \"x\" s s | \"x\" s \"y\" | \"x\""));
  std::string error = "none";
  try {
    Automaton::State s = a.start();
    for (int i = 0; i < 200 && s != Automaton::kDead; ++i) s = a.next(s, 'x');
  } catch (const Error& e) {
    error = std::string(e.message());
  }
  EXPECT_THAT(error, testing::AnyOf(HasSubstr("ways"), testing::StrEq("none")));
  EXPECT_TRUE(Automaton(read_ebnf("root ::= (\"x\"*)*")).accepts(std::string(1000, 'x')));
}

TEST(Regex, WhatMatches) {
  EXPECT_TRUE(matches("[A-Z]{2}\\d+", "AB12"));
  EXPECT_FALSE(matches("[A-Z]{2}\\d+", "A12"));
  EXPECT_TRUE(matches("^(?:a|b)*?c$", "abac"));
  EXPECT_TRUE(matches("(?P<n>é+)(?<m>.)", "éé☃"));
  EXPECT_FALSE(matches(".", "\n"));
  EXPECT_TRUE(matches("[^a-c\\]]", "]") == false && matches("[^a-c\\]]", "d"));
  EXPECT_TRUE(matches("\\u00e9\\x41\\u{1F600}\\uD83D\\uDE00", "éA😀😀"));
  EXPECT_TRUE(matches("a{2,}", "aaa") && !matches("a{2,}", "a") && matches("a{,2}", "a{,2}"));
  EXPECT_TRUE(matches("", "") && !matches("", "a"));
  EXPECT_TRUE(matches("b", "abc", false) && matches("^a", "abc", false) &&
              !matches("^b", "abc", false));
  EXPECT_TRUE(matches("^a|c$", "xc", false) && !matches("^a|c$", "bcb", false));
}

TEST(Regex, WhatIsRefusedIsNamed) {
  for (const auto& [pattern, says] : {std::pair("(?=a)", "look-ahead"),
                                      {"(?<!a)b", "look-behind"},
                                      {"(a)\\1", "back reference"},
                                      {"a\\b", "\\b"},
                                      {"\\p{L}", "\\p"},
                                      {"(?>a)", "atomic"},
                                      {"a++", "possessive"},
                                      {"(a", "without a )"},
                                      {"a)", "without a ("},
                                      {"[a", "without a ]"},
                                      {"[]", "empty class"},
                                      {"*a", "nothing to repeat"},
                                      {"a{3,2}", "repeated"},
                                      {"a{10001}", "at most 10000"},
                                      {"[z-a]", "descends"},
                                      {"\\q", "unknown escape"},
                                      {"a^b", "begin the expression"},
                                      {"(?i)a", "begins so"},
                                      {"\\", "cut short"},
                                      {"\\ud800", "no character"}})
    EXPECT_THAT(error_of([&] { regex_automaton(pattern); }), HasSubstr(says)) << pattern;
  EXPECT_THAT(error_of([&] { regex_automaton(std::string(100, '(') + std::string(100, ')')); }),
              HasSubstr("deeper than 64"));
  EXPECT_THAT(error_of([&] { regex_automaton(std::string(70000, 'a')); }), HasSubstr("longer"));
  EXPECT_TRUE(matches("((a{10}){10}){10}", std::string(1000, 'a'))) << "repetitions stay small";
  std::string large;
  for (int i = 0; i < 30; ++i) large += "a{10000}";
  EXPECT_THAT(error_of([&] { regex_automaton(large); }), HasSubstr("more than 262144 states"));
}

TEST(Ebnf, ReadsLlamaCppsGrammars) {
  Automaton list(read_ebnf(R"(# a list
root ::= item+
item ::= "- " [^\r\n\x0b\x0c\x85\u2028\u2029]+ "\n"
)"));
  EXPECT_TRUE(list.accepts("- one\n- two\n"));
  EXPECT_FALSE(list.accepts("- one"));
  Automaton arithmetic(read_ebnf(R"g(root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*)g"));
  EXPECT_TRUE(arithmetic.accepts("(1+x) *3=7\n"));
  EXPECT_FALSE(arithmetic.accepts("1+=7\n"));
  EXPECT_TRUE(Automaton(read_ebnf("root ::= (\"a\" |\n \"b\"){2} .")).accepts("ab☃"));
}

TEST(Ebnf, ErrorsNameTheLine) {
  for (const auto& [text, says] :
       {std::pair("x ::= \"a\"", "rule root is missing"),
        {"root ::= a", "a is used but not defined"},
        {"root ::= \"a\"\nroot ::= \"b\"", "line 2: rule root is defined twice"},
        {"root = \"a\"", "line 1: ::= is missing"},
        {"root ::= \"a", "\" is missing"},
        {"root ::= (\"a\"", ") is missing"},
        {"root ::= \"a\"{20000}", "10000"},
        {"root ::= [", "without a ]"},
        {"root ::= \"\\q\"", "unknown escape"},
        {"root ::= (=\"a\")", "look-ahead"},
        {"root ::= $", "something else"}})
    EXPECT_THAT(error_of([&] { Automaton(read_ebnf(text)); }), HasSubstr(says)) << text;
  EXPECT_THAT(error_of([&] { read_ebnf("root ::= " + std::string(100, '(')); }),
              HasSubstr("deeper"));
}

TEST(Lark, ReadsRulesTerminalsAndWhatIsIgnored) {
  Automaton a(read_lark(R"g(
?start: pair ("," pair)* [";"]  // a comment
pair.2: KEY ":" value -> one
value: SIGNED_NUMBER | ESCAPED_STRING | "null"i | "a".."f"~2..3
     | /x[yz]+/i
KEY: LETTER (LETTER | "_")*
%import common.LETTER
%import common.ESCAPED_STRING
%import common.SIGNED_NUMBER -> SIGNED_NUMBER
%import common.WS
%ignore WS
)g"));
  for (const char* yes : {"a:1", " a : -1.5e3 , b_c:\"x\\\"y\";", "k:NuLL", "k:abf", "k:XyZ"})
    EXPECT_TRUE(a.accepts(yes)) << yes;
  for (const char* no : {"a", "a:", "1:1", "k:g", "k:a", "k:abcdef", "k:\"x"})
    EXPECT_FALSE(a.accepts(no)) << no;
  for (const auto& [text, says] : {std::pair("a: \"x\"", "start is missing"),
                                   {"start: b", "b is used but not defined"},
                                   {"start: \"a\"\n%declare X", "%declare is not supported"},
                                   {"start: \"a\"\n%import common.NOPE", "has no NOPE"},
                                   {"start: x{1}", "templates"},
                                   {"start: /a", "a / is missing"},
                                   {"start: \"a\" )", "behind a rule"}})
    EXPECT_THAT(error_of([&] { Automaton(read_lark(text)); }), HasSubstr(says)) << text;
}

}  // namespace
}  // namespace strata::engine::grammar
