#include "strata/engine/grammar/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"

namespace strata::engine::grammar {
namespace {

using testing::HasSubstr;

void expect(const std::string& schema, const std::vector<std::string>& yes,
            const std::vector<std::string>& no) {
  Automaton a(parse_json_schema(schema));
  for (const std::string& s : yes) EXPECT_TRUE(a.accepts(s)) << schema << " should take " << s;
  for (const std::string& s : no) EXPECT_FALSE(a.accepts(s)) << schema << " should refuse " << s;
}

TEST(JsonSchema, Values) {
  expect("true", {"null", "[1,{\"a\":[]}]", "\"\\u00e9\\n\"", "-0.5e+10"},
         {"", "nul", "[1,]", "\"\\ud800\"", "\"\n\"", "01", "1e999", "+1", "{a:1}"});
  expect(R"({"enum": ["a", 1, null, {"b": [2]}]})", {"\"a\"", "1", "null", "{\"b\": [2]}"},
         {"2", "\"b\"", "true"});
  expect(R"({"type": ["integer", "null"]})", {"12", "null", "-3"}, {"1.5", "\"1\"", "-"});
  expect(R"({"type": "string", "enum": ["a", 1]})", {"\"a\""}, {"1"});
}

TEST(JsonSchema, Objects) {
  const std::string s = R"({"type": "object", "properties": {"a": {"type": "integer"},
      "b": {"type": "string"}, "c": {"type": "boolean"}}, "required": ["b"]})";
  expect(s, {R"({"b":""})", R"({"a":1,"b":"x"})", R"({"b": "x", "c": true})", "{\n  \"b\":\"\"\n}"},
         {"{}", R"({"a":1})", R"({"b":"","a":1})", R"({"b":"","d":1})", R"({"b":1})"});
  expect(R"({"type": "object", "properties": {"a": true, "ab": true}, "additionalProperties":
             {"type": "null"}})",
         {R"({"a":1,"b":null})", R"({"abc":null,"":null})", "{}", R"({"ab":1,"aa":null})"},
         {R"({"b":1})", R"({"a":1,"a":null})", R"({"\u0061":null})", R"({"b":null,"ab":null})"});
  expect(R"({"properties": {"a": true, "b": true, "c": true}, "minProperties": 1,
             "maxProperties": 2})",
         {R"({"a":1})", R"({"b":1,"c":2})"}, {"{}", R"({"a":1,"b":1,"c":1})", "1"});
  expect(R"({"patternProperties": {"^x-[a-z]+$": {"type": "integer"}}})",
         {"{}", R"({"x-a":1,"x-bc":2})"}, {R"({"x-":1})", R"({"x-a":"1"})"});
}

TEST(JsonSchema, Arrays) {
  expect(R"({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3})",
         {"[1]", "[1, 2,3]"}, {"[]", "[1,2,3,4]", "[\"a\"]"});
  expect(R"({"prefixItems": [{"type": "integer"}, {"type": "null"}], "minItems": 1})",
         {"[1]", "[1,null]"}, {"[]", "[null]", "[1,null,1]"});
  expect(R"({"prefixItems": [{"type": "integer"}], "items": {"type": "null"}, "minItems": 2,
             "maxItems": 3})",
         {"[1,null]", "[1,null,null]"}, {"[1]", "[1,null,null,null]", "[null,null]"});
  expect(R"({"type": "array", "maxItems": 0})", {"[]"}, {"[1]"});
}

TEST(JsonSchema, Numbers) {
  const auto whole = [](std::int64_t x, int low, int high) { return x >= low && x <= high; };
  for (const auto& [low, high] :
       {std::pair(0, 0), {3, 17}, {-12, 9}, {-250, -7}, {99, 1001}, {-1, 100}}) {
    Automaton a(parse_json_schema(
        fmt::format(R"({{"type": "integer", "minimum": {}, "maximum": {}}})", low, high)));
    for (int x = -1200; x <= 1200; ++x)
      EXPECT_EQ(a.accepts(std::to_string(x)), whole(x, low, high))
          << x << " " << low << " " << high;
  }
  expect(R"({"type": "integer", "exclusiveMinimum": 3.5, "exclusiveMaximum": 6})", {"4", "5"},
         {"3", "6"});
  expect(R"({"type": "integer", "minimum": 17})", {"17", "170", "99999999999"}, {"16", "2", "-17"});
  expect(R"({"type": "integer", "maximum": -5})", {"-5", "-50", "-123"}, {"-4", "0", "5"});
  for (const auto& [low, high] :
       {std::pair("0", "1"), {"-0.25", "1.5"}, {"-3", "-1.75"}, {"0.125", "10"}, {"2.5", "2.75"}})
    for (const bool open : {false, true}) {
      Automaton a(parse_json_schema(fmt::format(R"({{"type": "number", "{}": {}, "{}": {}}})",
                                                open ? "exclusiveMinimum" : "minimum", low,
                                                open ? "exclusiveMaximum" : "maximum", high)));
      const double from = std::stod(low), to = std::stod(high);
      for (int k = -400; k <= 1200; ++k) {
        const double x = k / 100.0;
        if (k < 0 && k > -100 && x == 0) continue;
        const std::string text = fmt::format("{:.2f}", x);
        const bool in = open ? x > from && x < to : x >= from && x <= to;
        EXPECT_EQ(a.accepts(text), in) << text << " in " << low << " .. " << high << " " << open;
        if (k % 100 == 0 && x != 0)
          EXPECT_EQ(a.accepts(std::to_string(k / 100)), in)
              << k / 100 << " in " << low << " .. " << high;
      }
    }
  Automaton sevens(parse_json_schema(R"({"type": "integer", "multipleOf": 7})"));
  for (int x = -300; x <= 300; ++x) EXPECT_EQ(sevens.accepts(std::to_string(x)), x % 7 == 0) << x;
  expect(R"({"type": "integer", "multipleOf": 5, "minimum": -7, "maximum": 11})",
         {"-5", "0", "5", "10"}, {"-10", "15", "3"});
}

TEST(JsonSchema, Strings) {
  expect(R"({"type": "string", "minLength": 2, "maxLength": 3})",
         {"\"ab\"", "\"é☃😀\"", "\"\\n\\u0041\""}, {"\"a\"", "\"abcd\""});
  expect(R"({"type": "string", "pattern": "^[a-z\"\\\\]+$"})", {"\"abc\"", "\"a\\\"\\\\\""},
         {"\"\"", "\"A\"", "\"a\"b\""});
  expect(R"({"type": "string", "pattern": "b"})", {"\"abc\"", "\"b\\n\""}, {"\"ac\""});
  expect(R"({"type": "string", "format": "date"})",
         {"\"2024-02-29\"", "\"2000-02-29\"", "\"2023-12-31\""},
         {"\"2023-02-29\"", "\"1900-02-29\"", "\"2023-04-31\"", "\"0000-01-01\""});
  expect(R"({"type": "string", "format": "ipv4"})", {"\"127.0.0.1\""},
         {"\"256.0.0.1\"", "\"1.2.3\""});
  expect(R"({"type": "string", "format": "uuid"})", {"\"123e4567-e89b-12d3-a456-426614174000\""},
         {"\"123\""});
}

TEST(JsonSchema, SchemasOfSchemas) {
  const std::string tree = R"({"$defs": {"node": {"type": "object", "properties": {"value":
      {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
      "required": ["value"]}}, "$ref": "#/$defs/node"})";
  expect(tree, {R"({"value":1})", R"({"value":1,"children":[{"value":2,"children":[]}]})"},
         {R"({"value":1,"children":[2]})"});
  expect(R"({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}]})", {"1", "\"a\""},
         {"\"ab\"", "null"});
  expect(R"({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 5}], "description": "x"})",
         {"3", "5"}, {"2", "6"});
  expect(R"({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}},
             "anyOf": [{"properties": {"k": {"const": "a"}}}, {"properties": {"k": {"enum": ["b"]}}}]})",
         {R"({"k":"a"})", R"({"k":"b"})"}, {R"({"k":"c"})"});
  expect(R"({"oneOf": [
      {"type": "object", "properties": {"k": {"const": "a"}, "x": {"type": "integer"}}, "required": ["k"]},
      {"type": "object", "properties": {"k": {"const": "b"}, "y": {"type": "null"}}, "required": ["k"]}]})",
         {R"({"k":"a","x":1})", R"({"k":"b","y":null})"}, {R"({"k":"a","y":null})"});
}

TEST(JsonSchema, WhatIsNotFollowedIsNamed) {
  for (const auto& [schema, says] :
       {std::pair(R"({"not": {}})", "not is not supported"),
        {R"({"type": "array", "uniqueItems": true})", "uniqueItems"},
        {R"({"if": {}, "then": {}})", "if"},
        {R"({"contains": {}})", "contains"},
        {R"({"dependentRequired": {"a": ["b"]}})", "dependentRequired"},
        {R"({"type": "number", "multipleOf": 0.1})", "multipleOf"},
        {R"({"type": "string", "pattern": "a", "maxLength": 3})", "pattern"},
        {R"({"type": "string", "format": "color"})", "format"},
        {R"s({"type": "string", "pattern": "(?=a)"})s", "look-ahead"},
        {R"({"oneOf": [{"type": "integer"}, {"minimum": 3}]})", "oneOf"},
        {R"({"$ref": "http://x/y"})", "$ref"},
        {R"({"$ref": "#/$defs/none"})", "nowhere"},
        {R"({"type": "text"})", "type must be"},
        {R"({"type": "integer", "minimum": "3"})", "minimum"},
        {R"({"type": "integer", "minimum": 5, "maximum": 3})", "no text fits"},
        {R"({"type": "string", "maxLength": 20000})", "maxLength"},
        {"[1]", "an object"},
        {R"({"$ref": "#"})", "no text fits"},
        {"{", "not valid JSON"},
        {R"({"type": "object", "minProperties": 2})", "minProperties"},
        {R"({"allOf": [{"additionalProperties": false}, {"properties": {"a": true}}]})", "allOf"},
        {R"({"enum": ["ab"], "minLength": 1})", "minLength"},
        {R"({"propertyNames": {"pattern": "a"}})", "propertyNames"}}) {
    std::string error = "none";
    try {
      Automaton a(parse_json_schema(schema));
    } catch (const Error& e) {
      error = std::string(e.message());
    }
    EXPECT_THAT(error, HasSubstr(says)) << schema;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += R"({"items": )";
  EXPECT_THROW(parse_json_schema(deep + "true" + std::string(100, '}')), Error);
}

TEST(JsonSchema, AStyleWithoutWhitespace) {
  Automaton a(parse_json_schema(
      R"({"type": "object", "properties": {"a": {"items": {"type": "null"}}, "b": true}})",
      {.any_whitespace = false}));
  EXPECT_TRUE(a.accepts(R"({"a": [null, null], "b": 1})"));
  EXPECT_FALSE(a.accepts(R"({"a":[null],"b": 1})"));
  Automaton any(any_json_object());
  EXPECT_TRUE(any.accepts(R"({"a": [1, {"b": null}]})"));
  EXPECT_FALSE(any.accepts("[1]"));
}

}  // namespace
}  // namespace strata::engine::grammar
