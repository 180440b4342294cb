// Marks in free text announce what has a form.
#include "strata/serve/structural_tag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"

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
