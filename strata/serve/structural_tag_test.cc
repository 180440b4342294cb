// Marks in free text announce what has a form.
#include "strata/serve/structural_tag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"
#include "strata/engine/grammar/guide.h"

namespace strata::serve {
namespace {

using engine::grammar::Automaton;

bool takes(const char* tag, const std::string& text) {
  return Automaton(read_structural_tag(Json::parse(tag))).accepts(text);
}

constexpr const char* kOlder = R"({"type": "structural_tag", "structures": [
    {"begin": "<function=f>", "schema": {"type": "object", "properties": {"x": {"type": "integer"}},
     "required": ["x"]}, "end": "</function>"},
    {"begin": "<function=g>", "schema": {"type": "null"}, "end": "</function>"}],
    "triggers": ["<function="]})";

TEST(StructuralTag, OlderTagsHaveTheirSchemas) {
  EXPECT_TRUE(takes(kOlder, "")) << "nothing is triggered";
  EXPECT_TRUE(takes(kOlder, "text < of <function any kind"));
  EXPECT_TRUE(
      takes(kOlder, R"(I look. <function=f>{"x": 3}</function>, and <function=g>null</function>)"));
  EXPECT_FALSE(takes(kOlder, R"(<function=f>{"x": "3"}</function>)"));
  EXPECT_FALSE(takes(kOlder, R"(<function=h>{}</function>)"));
  EXPECT_FALSE(takes(kOlder, R"(<function=f>{"x": 3})")) << "not whole";
}

TEST(StructuralTag, FormatsAreBuiltOfEachOther) {
  constexpr const char* kTriggered = R"({"format": {"type": "triggered_tags", "triggers": ["<t"],
      "at_least_one": true, "stop_after_first": true, "tags": [{"begin": "<t>", "end": ["</t>", "</T>"],
      "content": {"type": "any_text", "excludes": ["bad"]}}]}})";
  EXPECT_TRUE(takes(kTriggered, "<t>anything < here</t>"));
  EXPECT_TRUE(takes(kTriggered, "<t></T>"));
  EXPECT_FALSE(takes(kTriggered, "first <t></t>")) << "it begins with a tag";
  EXPECT_FALSE(takes(kTriggered, "<t></t> more"));
  EXPECT_FALSE(takes(kTriggered, "<t>a bad one</t>"));
  constexpr const char* kThink = R"({"format": {"type": "sequence", "elements": [
      {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"},
      {"type": "or", "elements": [{"type": "const_string", "value": "yes"},
                                  {"type": "regex", "pattern": "no{2,}"},
                                  {"type": "grammar", "grammar": "root ::= x x\nx ::= \"z\""}]}]}})";
  EXPECT_TRUE(takes(kThink, "<think>so</think>yes"));
  EXPECT_TRUE(takes(kThink, "<think></think>nooo"));
  EXPECT_TRUE(takes(kThink, "<think></think>zz"));
  EXPECT_FALSE(takes(kThink, "<think></think>zzz"));
  EXPECT_FALSE(takes(kThink, "<think>so"));
  constexpr const char* kSeparated =
      R"({"format": {"type": "tags_with_separator", "separator": ", ", "at_least_one": true,
      "tags": [{"begin": "<", "end": ">", "content": {"type": "json_schema", "json_schema":
      {"type": "integer"}}}]}})";
  EXPECT_TRUE(takes(kSeparated, "<1>, <22>"));
  EXPECT_FALSE(takes(kSeparated, "<1> <2>"));
  EXPECT_FALSE(takes(kSeparated, ""));
  constexpr const char* kRepeated = R"({"format": {"type": "sequence", "elements": [
      {"type": "repeat", "min": 1, "max": 2, "content": {"type": "const_string", "value": "a"}},
      {"type": "optional", "content": {"type": "const_string", "value": "b"}},
      {"type": "star", "content": {"type": "const_string", "value": "c"}},
      {"type": "plus", "content": {"type": "const_string", "value": "d"}},
      {"type": "any_text"}, {"type": "const_string", "value": "!"}]}})";
  EXPECT_TRUE(takes(kRepeated, "abccdd so!"));
  EXPECT_TRUE(takes(kRepeated, "aad!"));
  EXPECT_FALSE(takes(kRepeated, "aaad!"));
  EXPECT_FALSE(takes(kRepeated, "ad!!"));
}

TEST(StructuralTag, TokensStandAsMarks) {
  const auto mark = [](const char* text) { return engine::grammar::Vocabulary::mark_of(text); };
  const TokenText text_of = [](const Json& token) -> std::string {
    for (const char* known : {"<a>", "<b>", "<c>"})
      if (token == known) return known;
    if (token == 7) return "<a>";
    throw Error("structural_tag", "{} is no special token of the model", token.dump());
  };
  const auto takes_marked = [&](const char* tag, const std::string& text) {
    const Json json = Json::parse(tag);
    EXPECT_TRUE(names_tokens(json)) << tag;
    return Automaton(read_structural_tag(json, text_of)).accepts(text);
  };
  const std::string a = mark("<a>"), b = mark("<b>"), c = mark("<c>");
  constexpr const char* kTag = R"({"format": {"type": "sequence", "elements": [{"type": "any_text"},
      {"type": "tag", "begin": {"type": "token", "token": 7}, "content": {"type": "json_schema",
       "json_schema": {"type": "integer"}}, "end": {"type": "token", "token": "<b>"}}]}})";
  EXPECT_TRUE(takes_marked(kTag, "so " + a + "12" + b));
  EXPECT_FALSE(takes_marked(kTag, "so <a>12<b>")) << "the texts are not the tokens";
  EXPECT_FALSE(takes_marked(kTag, "so " + b + a + "12" + b)) << "no text has tokens";
  EXPECT_FALSE(takes_marked(kTag, "so " + c + a + "12" + b));
  constexpr const char* kAny = R"({"format": {"type": "sequence", "elements": [
      {"type": "token", "token": "<a>"}, {"type": "any_tokens", "exclude_tokens": ["<b>"]}]}})";
  EXPECT_TRUE(takes_marked(kAny, a + "x" + a + "y"));
  EXPECT_FALSE(takes_marked(kAny, a + "x" + b));
  EXPECT_FALSE(takes_marked(kAny, a + "x" + c)) << "it is not named";
  constexpr const char* kTriggered = R"({"format": {"type": "token_triggered_tags",
      "trigger_tokens": ["<a>"], "exclude_tokens": ["<c>"], "tags": [{"begin": {"type": "token",
      "token": "<a>"}, "content": {"type": "const_string", "value": "x"}, "end": {"type": "token",
      "token": "<b>"}}]}})";
  EXPECT_TRUE(takes_marked(kTriggered, "free" + a + "x" + b + "free" + a + "x" + b));
  EXPECT_TRUE(takes_marked(kTriggered, "free" + b));
  EXPECT_FALSE(takes_marked(kTriggered, "free" + c));
  EXPECT_FALSE(takes_marked(kTriggered, "free" + a + "y" + b));
  constexpr const char* kDispatch = R"({"format": {"type": "token_dispatch", "rules": [
      ["<a>", {"type": "regex", "pattern": "[0-9]"}], ["<b>", {"type": "const_string", "value": "!"}]]}})";
  EXPECT_TRUE(takes_marked(kDispatch, "x" + a + "4y" + b + "!" + a + "1"));
  EXPECT_FALSE(takes_marked(kDispatch, "x" + a + "y"));
  constexpr const char* kOnce = R"({"format": {"type": "dispatch", "loop": false, "rules": [
      ["<n>", {"type": "regex", "pattern": "[0-9]"}]]}})";
  EXPECT_TRUE(takes(kOnce, "some <n>4"));
  EXPECT_TRUE(takes(kOnce, "none"));
  EXPECT_FALSE(takes(kOnce, "some <n>4 more"));
  for (const char* wrong :
       {R"({"format": {"type": "token", "token": "x"}})", R"({"format": {"type": "token"}})",
        R"({"format": {"type": "exclude_token", "exclude_tokens": ["<a>"]}})",
        R"({"format": {"type": "any_tokens", "exclude_tokens": "<a>"}})"})
    EXPECT_THROW(read_structural_tag(Json::parse(wrong), text_of), Error) << wrong;
}

TEST(StructuralTag, WhatIsNoneIsRefused) {
  for (
      const auto& [tag, says] :
      {std::pair(R"([])", "must be an object"),
       {R"({})", "must have a format"},
       {R"({"format": {"type": "token"}})", "of type token is not supported"},
       {R"({"format": {"type": "tag", "begin": "a", "content": {"type": "any_text"}}})",
        "must have an end"},
       {R"({"format": {"type": "tag", "begin": "a", "content": {"type": "any_text"}, "end": ""}})",
        "any_text needs"},
       {R"({"format": {"type": "sequence", "elements": []}})", "a list of 1 to 256"},
       {R"({"structures": [{"begin": "a", "schema": {}, "end": "b"}], "triggers": ["x"]})",
        "no tag begins with the trigger"},
       {R"({"structures": [{"begin": "a", "schema": {"not": {}}, "end": "b"}], "triggers": ["a"]})",
        "not is not supported"},
       {R"({"format": {"type": "json_schema", "json_schema": {}, "style": "qwen_xml"}})",
        "style qwen_xml"}}) {
    try {
      read_structural_tag(Json::parse(tag));
      ADD_FAILURE() << tag;
    } catch (const Error& e) {
      EXPECT_THAT(e.message(), testing::HasSubstr(says)) << tag;
    }
  }
}

}  // namespace
}  // namespace strata::serve
