#include "strata/serve/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace strata::serve {
namespace {

using testing::HasSubstr;

/// The message with which a text is refused; empty where it is read.
std::string refused(const std::string& text) {
  try {
    parse_object(text);
    return {};
  } catch (const ApiError& e) {
    EXPECT_EQ(e.status, 400);
    return e.message;
  }
}

std::string nested(int depth) {
  return "{\"a\":" + std::string(static_cast<std::size_t>(depth - 1), '[') +
         std::string(static_cast<std::size_t>(depth - 1), ']') + "}";
}

TEST(Json, ObjectsAreRead) {
  EXPECT_EQ(parse_object(R"({"a": 1, "b": [true, null, "\u00e9"]})")["b"][2], "é");
  EXPECT_EQ(refused("{}"), "");
  EXPECT_EQ(refused(" \r\n\t{} \n"), "");
  // The same key in two objects is no key twice.
  EXPECT_EQ(refused(R"({"a": {"x": 1}, "b": [{"x": 1}, {"x": 2}]})"), "");
}

TEST(Json, WhatOthersReadInAnotherWayIsRefused) {
  for (const char* text : {"",
                           "{",
                           "[1]{",
                           "{} {}",
                           "{\"a\":01}",
                           "{\"a\":.5}",
                           "{\"a\":NaN}",
                           "{\"a\":Infinity}",
                           "{\"a\":1e999}",
                           "{'a':1}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\":\"\n\"}",
                           "{\"a\":\"\\x\"}",
                           "{\"a\":\"\\ud800\"}",
                           "{\"a\":\"\xff\"}",
                           "{\"a\":\"\xc0\x80\"}",
                           "{\"a\":\"\xed\xa0\x80\"}",
                           "// c\n{}",
                           "\x01{}"})
    EXPECT_THAT(refused(text), HasSubstr("not valid JSON")) << text;
  for (const char* text : {"[]", "1", "\"a\"", "null"})
    EXPECT_THAT(refused(text), HasSubstr("must be a JSON object")) << text;
  EXPECT_THAT(refused(R"({"a":1,"a":2})"), HasSubstr("twice: a"));
  EXPECT_THAT(refused(R"({"b":[{"a":1,"\u0061":2}]})"), HasSubstr("twice: a"));
}

TEST(Json, DepthIsBounded) {
  EXPECT_EQ(refused(nested(64)), "");
  EXPECT_THAT(refused(nested(65)), HasSubstr("deeper than 64"));
  EXPECT_THAT(refused("{\"a\":" + std::string(1 << 20, '[')), HasSubstr("deeper than 64"));
}

TEST(Json, EveryCutOfABodyIsRefused) {
  const std::string body = R"({"prompt": ["a\u00e9", [1, 2]], "n": 2, "stop": null, "t": 1.5e-3})";
  ASSERT_EQ(refused(body), "");
  for (std::size_t i = 0; i < body.size(); ++i)
    EXPECT_NE(refused(body.substr(0, i)), "") << body.substr(0, i);
}

TEST(Json, ErrorsHaveOpenAisShape) {
  const Json e = error_json(429, "often", "n");
  EXPECT_EQ(dump(e),
            R"({"error":{"message":"often","type":"RateLimitError","param":"n","code":429}})");
  EXPECT_TRUE(error_json(500, "x")["error"]["param"].is_null());
  EXPECT_EQ(error_json(500, "x")["error"]["type"], "InternalServerError");
  EXPECT_EQ(error_json(413, "x")["error"]["type"], "BadRequestError");
  // What is no UTF-8 is told all the same.
  EXPECT_EQ(dump(Json{{"a", "\xff"}}), "{\"a\":\"\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace strata::serve
