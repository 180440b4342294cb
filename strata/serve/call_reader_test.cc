// Calls of every syntax, in every split of the text; and the reader of JSON beside one that reads
// all that it holds anew for each piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "strata/serve/call_syntax.h"
#include "strata/serve/tools.h"

namespace strata::serve {
namespace {

struct Read {
  std::string content;
  std::vector<ToolCall> calls, built;  // `built` from pieces
};
template <class Reader>
Read read(Reader reader, std::string_view text, std::size_t piece) {
  Read out;
  for (std::size_t at = 0; at <= text.size(); at += piece) {
    const CallReader::Part part = reader.add(text.substr(at, piece), at + piece > text.size());
    out.content += part.content;
    out.calls.insert(out.calls.end(), part.calls.begin(), part.calls.end());
    for (const CallPiece& p : part.pieces) {
      if (p.index == out.built.size()) out.built.push_back({p.id, p.name, ""});
      out.built.at(p.index).arguments += p.arguments;
    }
  }
  return out;
}
std::string shown(const Read& r) {
  std::string out = r.content;
  for (const auto* all : {&r.calls, &r.built})
    for (const ToolCall& c : *all) out += "|" + c.id + " " + c.name + c.arguments;
  return out;
}

ToolChoice tools() {
  ToolChoice out{.kind = ToolChoice::Kind::automatic, .tools = {"f", "g"}};
  out.parameters["f"] = Json::parse(R"({"type": "object", "properties": {
      "text": {"type": "string"}, "count": {"type": "integer"}, "on": {"type": ["null", "boolean"]},
      "list": {"anyOf": [{"type": "array"}, {"type": "null"}]}}})");
  return out;
}
CallReader reader_of(const CallFormat& format) { return CallReader(format, tools(), "id"); }
CallFormat format_of(const std::string& name) { return named_call_format(name).value(); }

struct Case {
  std::string parser, text, content;
  std::vector<std::pair<std::string, std::string>> calls;
};

TEST(CallReader, CallsOfEachSyntaxAreReadInEverySplit) {
  const std::string qwen =
      "<tool_call>\n<function=f>\n<parameter=text>\na "
      "\"b\"\n<c>\n</parameter>\n<parameter=count>\n3\n"
      "</parameter>\n<parameter=on>\nTrue\n</parameter>\n</function>\n</tool_call>";
  const std::string qwen_arguments = R"({"text": "a \"b\"\n<c>", "count": 3, "on": true})";
  const std::string glm =
      "<tool_call>f\n<arg_key>text</arg_key>\n<arg_value>12</arg_value>\n<arg_key>list</arg_key>\n"
      "<arg_value>[1, {\"a\": null}]</arg_value>\n</tool_call>";
  const std::string glm_arguments = R"({"text": "12", "list": [1, {"a": null}]})";
  for (const Case& c : std::vector<Case>{
           {"qwen3_coder", "Well.\n" + qwen, "Well.", {{"f", qwen_arguments}}},
           {"qwen3_coder",
            qwen + "\n<tool_call>\n<function=g>\n</function>\n</tool_call>\n",
            "",
            {{"f", qwen_arguments}, {"g", "{}"}}},
           {"qwen3_xml", "a <tool_call> b", "a<tool_call> b", {}},
           {"qwen3_coder",
            "<tool_call>\n<function=h>\n</function>",
            "<tool_call>\n<function=h>\n</function>",
            {}},
           {"qwen3_coder", "<tool_call>\n<function=g", "<tool_call>\n<function=g", {}},
           {"qwen3_coder",
            "<tool_call>\n<function=f>\n<parameter=count>\n7\n</parameter>\n<parameter=text>\ncut "
            "off",
            "",
            {{"f", R"({"count": 7})"}}},
           {"qwen3_coder",
            "<tool_call><function=f><parameter=count>1</parameter><parameter=count>2</parameter></"
            "function></tool_call>later",
            "later",
            {{"f", R"({"count": 1})"}}},
           {"glm45", glm, "", {{"f", glm_arguments}}},
           {"glm45",
            "I look.\n" + glm + "\n" + glm,
            "I look.",
            {{"f", glm_arguments}, {"f", glm_arguments}}},
           {"glm47", "<tool_call>g</tool_call>", "", {{"g", "{}"}}},
           {"glm45", "<tool_call>other\n</tool_call>", "<tool_call>other\n</tool_call>", {}},
           {"minimax_m2",
            "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"count\">5</parameter>\n"
            "</invoke>\n</minimax:tool_call>",
            "",
            {{"f", R"({"count": 5})"}}},
           {"minimax_m2",
            "<minimax:tool_call>\n<invoke name=\"g\">\n</invoke>\n<invoke name=\"f\">\n<parameter "
            "name=\"count\">5</parameter>\n</invoke>\n</minimax:tool_call>\nDone.",
            "Done.",
            {{"g", "{}"}, {"f", R"({"count": 5})"}}},
           {"deepseek_v31",
            "Hm. <\uff5ctool\u2581call\u2581begin\uff5c>f<\uff5ctool\u2581sep\uff5c>{\"text\": "
            "\"}\"}<\uff5ctool\u2581call\u2581end\uff5c>",
            "Hm.",
            {{"f", R"({"text": "}"})"}}},
           {"pythonic",
            R"([f(text='it\'s "so"', count=-3, on=None), g()])",
            "",
            {{"f", R"({"text": "it's \"so\"", "count": -3, "on": null})"}, {"g", "{}"}}},
           {"pythonic",
            "  [ f ( list = [1, 2.5, {'a': (True, False)}, ], ) ] ",
            "",
            {{"f", R"({"list": [1, 2.5, {"a": [true, false]}]})"}}},
           {"llama4_pythonic", "<|python_start|>[g()]<|python_end|>", "", {{"g", "{}"}}},
           {"pythonic", "Hello [f()]", "Hello [f()]", {}},
           {"pythonic", "[1, 2, 3]", "[1, 2, 3]", {}},
           {"pythonic", "[h(a=1)]", "[h(a=1)]", {}},
           {"pythonic", "[f(a=1), g(b=)]", " g(b=)]", {{"f", R"({"a": 1})"}}},
           {"pythonic", "[f(a=1, a=2)]", "[f(a=1, a=2)]", {}},
           {"pythonic", "[f(a=__import__('os'))]", "[f(a=__import__('os'))]", {}},
           {"pythonic", "[f(a=1", "[f(a=1", {}},
           {"llama3_json", R"({"name": "g", "parameters": {"x": 1}})", "", {{"g", R"({"x": 1})"}}},
           {"internlm",
            R"(So.<|action_start|><|plugin|>{"name": "g", "parameters": {}}<|action_end|>)",
            "So.",
            {{"g", "{}"}}},
           {"jamba",
            R"(<tool_calls>[{"name": "g", "arguments": {}}]</tool_calls>)",
            "",
            {{"g", "{}"}}},
       })
    for (const std::size_t piece : {1, 2, 3, 5, 7, 1000}) {
      const Read got = read(reader_of(format_of(c.parser)), c.text, piece);
      EXPECT_EQ(got.content, c.content) << c.text << " by " << piece;
      ASSERT_EQ(got.calls.size(), c.calls.size()) << c.text << " by " << piece;
      ASSERT_EQ(got.built.size(), c.calls.size()) << c.text << " by " << piece;
      for (std::size_t i = 0; i < c.calls.size(); ++i) {
        EXPECT_EQ(got.calls[i].name, c.calls[i].first);
        EXPECT_EQ(got.calls[i].arguments, c.calls[i].second) << c.text << " by " << piece;
        EXPECT_EQ(got.built[i].arguments, got.calls[i].arguments);
        EXPECT_EQ(got.built[i].id, got.calls[i].id);
      }
    }
}

TEST(CallReader, ArgumentsOfATaggedCallAreToldAsTheyCome) {
  CallReader reader = reader_of(format_of("qwen3_coder"));
  const auto first =
      reader.add("<tool_call>\n<function=f>\n<parameter=count>\n3\n</parameter>\n", false);
  ASSERT_EQ(first.pieces.size(), 2u);
  EXPECT_EQ(first.pieces[0].name, "f");
  EXPECT_EQ(first.pieces[1].arguments, R"({"count": 3)");
  EXPECT_TRUE(first.calls.empty());
  const auto last = reader.add("</function>", false);
  ASSERT_EQ(last.calls.size(), 1u);
  EXPECT_EQ(last.pieces.back().arguments, "}");
}

TEST(CallReader, LiteralsOfPythonAreJson) {
  for (const auto& [literal, json] : std::vector<std::pair<std::string, std::string>>{
           {"1", "1"},
           {"-0.50", "-0.50"},
           {".5", "0.5"},
           {"5.", "5.0"},
           {"1_000", "1000"},
           {"+2e-3", "2e-3"},
           {"'a' \"b\"", R"("ab")"},
           {R"('\x41\u00e9\101\q')", R"("AéA\\q")"},
           {"()", "[]"},
           {"{}", "{}"},
           {"{'a': [1, (2,)], \"b\": None,}", R"({"a": [1, [2]], "b": null})"},
           {R"('\ud83d\ude00')", "\"\U0001f600\""}}) {
    const auto got = python_as_json(literal);
    ASSERT_TRUE(got) << literal;
    EXPECT_EQ(Json::parse(*got), Json::parse(json)) << literal << " " << *got;
  }
  for (const char* wrong : {"", "f(1)", "[1", "1 2", "'a", "{1: 2}", "{'a' 1}", "nan", "01", "1e",
                            "[,]", "1-2", "lambda: 0", "'\\ud800'", "0x", "-", "True1"})
    EXPECT_FALSE(python_as_json(wrong)) << wrong;
  EXPECT_TRUE(python_as_json(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(python_as_json(std::string(100000, '[')));
}

TEST(CallReader, ArgumentsHaveTheTypesOfTheirSchema) {
  const Json text = {{"type", "string"}}, number = {{"type", "number"}};
  EXPECT_EQ(typed_argument("12", text), R"("12")");
  EXPECT_EQ(typed_argument("12", number), "12");
  EXPECT_EQ(typed_argument(" {'a': True} ", Json()), R"({"a": true})");
  EXPECT_EQ(typed_argument("twelve", number), R"("twelve")");
  EXPECT_EQ(typed_argument("null", Json::parse(R"({"type": ["null", "integer"]})")), "null");
  EXPECT_EQ(
      typed_argument("a", Json::parse(R"({"anyOf": [{"type": "null"}, {"type": "string"}]})")),
      R"("a")");
}

// ---- the twin -----------------------------------------------------------------------------------

/// The characters of a member's value in an object that is valid JSON.
std::string raw_member(std::string_view object, const std::string& key) {
  std::size_t at = 1;
  const auto skip = [&] {
    while (at < object.size() && (is_space(object[at]) || object[at] == ',' || object[at] == ':'))
      ++at;
  };
  for (skip(); at < object.size() && object[at] == '"'; skip()) {
    const std::size_t key_end = behind_value(object, at).value_or(object.size());
    const Json name = Json::parse(object.substr(at, key_end - at), nullptr, false);
    at = key_end;
    skip();
    const std::size_t end = behind_value(object, at).value_or(object.size());
    if (name == key) return std::string(trimmed(object.substr(at, end - at)));
    at = end;
  }
  return {};
}

/// The reader of JSON that reads all that it holds anew for each piece.
class Rereading {
 public:
  Rereading(CallFormat format, ToolChoice choice, std::string id)
      : format_(std::move(format)), choice_(std::move(choice)), id_(std::move(id)) {}
  CallReader::Part add(std::string_view text, bool is_end);

 private:
  bool read_call(bool is_end, CallReader::Part& out);
  void tell_begun(std::size_t from, CallReader::Part& out);
  std::string id() const;
  CallFormat format_;
  ToolChoice choice_;
  std::string id_, held_, mark_;
  bool in_calls_ = false, gave_up_ = false, any_ = false;
  std::size_t count_ = 0;
  std::string begun_;
  std::size_t told_ = 0;
  std::string arguments_;
};

std::string Rereading::id() const { return fmt::format("{}{}", id_, count_); }

/// Tells what is there of a call that begins at `from`, once its name is.
void Rereading::tell_begun(std::size_t from, CallReader::Part& out) {
  const std::string_view text = held_;
  std::size_t at = from + 1;
  const auto skip = [&] {
    while (at < text.size() && is_space(text[at])) ++at;
  };
  const auto take = [&](char c) {
    skip();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    skip();
    return true;
  };
  const auto string = [&]() -> std::string {
    skip();
    if (at >= text.size() || text[at] != '"') return {};
    const auto end = behind_value(text, at);
    if (!end) return {};
    const Json value = Json::parse(text.substr(at, *end - at), nullptr, false);
    at = *end;
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  if (string() != "name" || !take(':')) return;
  const std::string name = string();
  const auto& tools = choice_.tools;
  if (std::find(tools.begin(), tools.end(), name) == tools.end() || !take(',')) return;
  if (string() != format_.arguments || !take(':') || at >= text.size() || text[at] != '{') return;
  if (begun_.empty()) {
    begun_ = name;
    out.pieces.push_back({count_, id(), name, ""});
  }
  arguments_ = std::string(text.substr(at, behind_value(text, at).value_or(text.size()) - at));
  if (arguments_.size() > told_) out.pieces.push_back({count_, "", "", arguments_.substr(told_)});
  told_ = arguments_.size();
}

/// Reads a call at the beginning of what is held; false where more is needed, or none stands there.
bool Rereading::read_call(bool is_end, CallReader::Part& out) {
  const std::size_t from = held_.find_first_not_of(" \n\t\r");
  if (from == held_.npos) return false;
  if (held_[from] != '{') {
    gave_up_ = !any_;
    return false;
  }
  const auto to = behind_value(held_, from);
  if (format_.sure) tell_begun(from, out);
  if (!to && is_end && !begun_.empty()) {
    // What was told is no content any more.
    out.calls.push_back({id(), begun_, arguments_});
    held_.clear(), mark_.clear();
    any_ = true;
    return false;
  }
  if (!to) {
    gave_up_ = is_end;
    return false;
  }
  const std::string_view object = std::string_view(held_).substr(from, *to - from);
  const Json call = Json::parse(object, nullptr, false);
  const Json name = call.is_object() ? call.value("name", Json()) : Json();
  std::string key;
  if (call.is_object())
    for (const char* known : {"arguments", "parameters"})
      if (key.empty() && call.contains(known)) key = known;
  const auto& tools = choice_.tools;
  if (!name.is_string() ||
      std::find(tools.begin(), tools.end(), name.get<std::string>()) == tools.end() ||
      (!key.empty() && !call[key].is_object() && !call[key].is_string())) {
    gave_up_ = true;
    return false;
  }
  // Some models write the arguments as text.
  std::string arguments = key.empty()             ? "{}"
                          : call[key].is_string() ? call[key].get<std::string>()
                                                  : raw_member(object, key);
  if (begun_.empty()) out.pieces.push_back({count_, id(), name.get<std::string>(), arguments});
  out.calls.push_back({id(), name.get<std::string>(), std::move(arguments)});
  ++count_;
  begun_.clear(), arguments_.clear();
  told_ = 0;
  held_.erase(0, *to);
  mark_.clear();
  any_ = true;
  return true;
}

CallReader::Part Rereading::add(std::string_view text, bool is_end) {
  CallReader::Part out;
  held_ += text;
  const std::string_view begin = trimmed(format_.begin);
  for (;;) {
    if (gave_up_) {
      // What looked like a call is content, with its mark.
      out.content += mark_ + held_;
      mark_.clear();
      held_.clear();
      return out;
    }
    if (in_calls_) {
      // The same in every split: what stands between calls is dropped before the next is read.
      if (any_) held_.erase(0, std::min(held_.find('{'), held_.size()));
      if (read_call(is_end, out)) continue;
      // Of a mark and nothing behind it, all is content.
      if (is_end && !any_ && trimmed(held_).empty()) gave_up_ = true;
      if (gave_up_) continue;
      if (any_) {
        // Between calls stand marks and spaces; the next call begins with a brace.
        const std::size_t brace = held_.find('{');
        if (brace != held_.npos && brace > 0) {
          held_.erase(0, brace);
          continue;
        }
        if (brace == held_.npos && is_end) held_.clear();
      }
      return out;
    }
    if (begin.empty()) {
      // The whole answer is calls, or none of it.
      const std::string_view seen = trimmed(held_);
      constexpr std::string_view kPython = "<|python_tag|>";
      if (seen.empty()) {
        if (is_end) gave_up_ = true;
        if (!is_end) return out;
        continue;
      }
      if (!is_end && kPython.starts_with(seen)) return out;
      if (seen.starts_with(kPython)) {
        mark_ = kPython;
        held_.erase(0, held_.find(kPython) + kPython.size());
      }
      in_calls_ = true;
      continue;
    }
    const std::size_t at = held_.find(begin);
    if (at != held_.npos) {
      // Spaces before a call are not content.
      std::string_view before = std::string_view(held_).substr(0, at);
      while (!before.empty() && is_space(before.back())) before.remove_suffix(1);
      out.content += before;
      mark_ = begin;
      held_.erase(0, at + begin.size());
      in_calls_ = true;
      continue;
    }
    // The end of what is held may be the beginning of a mark, or spaces before one.
    std::size_t keep = 0;
    if (!is_end)
      for (std::size_t n = std::min(begin.size() - 1, held_.size()); n > 0 && keep == 0; --n)
        if (std::string_view(held_).ends_with(begin.substr(0, n))) keep = n;
    while (!is_end && keep < held_.size() && is_space(held_[held_.size() - keep - 1])) ++keep;
    out.content += held_.substr(0, held_.size() - keep);
    held_.erase(0, held_.size() - keep);
    return out;
  }
}

/// A text of what calls are made of, and of what they are not.
std::string any_text(std::mt19937& random, const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t n = random() % 14; n > 0; --n) out += parts[random() % parts.size()];
  return out;
}

TEST(CallReader, JsonIsReadAsByOneThatRereads) {
  std::mt19937 random(49);
  const std::vector<std::string> parts = {"<tool_call>",
                                          "</tool_call>",
                                          "\n",
                                          " ",
                                          "{\"name\": \"f\", \"arguments\": ",
                                          "{\"a\": \"}\\\"\"}",
                                          "}",
                                          "{\"name\": \"g\", \"arguments\": {}}",
                                          "{",
                                          "]",
                                          "\"",
                                          "text",
                                          "<tool",
                                          "<|python_tag|>",
                                          "\\",
                                          ", ",
                                          "{\"name\": \"f\"}",
                                          "{\"name\": \"h\"}",
                                          "[TOOL_CALLS] ["};
  for (int round = 0; round < 3000; ++round) {
    const std::string text = any_text(random, parts);
    for (const char* parser : {"hermes", "llama3_json", "mistral"}) {
      CallFormat format = format_of(parser);
      format.arguments = "arguments";
      format.sure = round % 2 == 0;
      const std::size_t piece = 1 + random() % 9;
      EXPECT_EQ(shown(read(CallReader(format, tools(), "id"), text, piece)),
                shown(read(Rereading(format, tools(), "id"), text, piece)))
          << parser << (format.sure ? " sure " : " ") << text << " by " << piece;
    }
  }
}

TEST(CallReader, EverySplitGivesTheSame) {
  std::mt19937 random(50);
  const std::vector<std::string> parts = {"<tool_call>",
                                          "</tool_call>",
                                          "\n",
                                          " ",
                                          "<function=f>",
                                          "<function=",
                                          "g",
                                          "f",
                                          "</function>",
                                          "<parameter=text>",
                                          "</parameter>",
                                          "<parameter=",
                                          ">",
                                          "<arg_key>",
                                          "</arg_key>",
                                          "<arg_value>",
                                          "</arg_value>",
                                          "count",
                                          "12",
                                          "[",
                                          "]",
                                          "f(",
                                          ")",
                                          "a=",
                                          "'x, )'",
                                          ",",
                                          "(",
                                          "{'a': 1}",
                                          "\\",
                                          "\"",
                                          "<|python_start|>",
                                          "\u00e9",
                                          "<\uff5ctool\u2581call\u2581begin\uff5c>",
                                          "<\uff5ctool\u2581sep\uff5c>",
                                          "{}",
                                          "<\uff5ctool\u2581call\u2581end\uff5c>"};
  for (int round = 0; round < 3000; ++round) {
    const std::string text = any_text(random, parts);
    for (const char* parser : {"qwen3_coder", "glm45", "pythonic", "deepseek_v31", "minimax_m2"}) {
      const std::string whole = shown(read(reader_of(format_of(parser)), text, text.size() + 1));
      for (const std::size_t piece : {1, 3})
        EXPECT_EQ(shown(read(reader_of(format_of(parser)), text, piece)), whole)
            << parser << " " << text << " by " << piece;
    }
  }
}

TEST(CallReader, LongTextsAreReadOnce) {
  // Each of them took the square of its length before.
  constexpr std::size_t kLong = 400000;
  const std::string spaces(kLong, ' '), letters(kLong, 'x');
  for (const auto& [parser, text] : std::vector<std::pair<std::string, std::string>>{
           {"hermes", "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"" + letters},
           {"hermes", "a" + spaces},
           {"hermes", "<tool_call>" + spaces},
           {"hermes", "<tool_call>{\"name\": \"g\"}" + letters},
           {"llama3_json", spaces},
           {"pythonic", "[f(a='" + letters},
           {"pythonic", "[f(a=" + std::string(kLong, '[')},
           {"qwen3_coder", "<tool_call><function=f><parameter=text>" + letters},
           {"qwen3_coder", "<tool_call><function=f>" + spaces},
           {"glm45", "<tool_call>f" + spaces + "<arg_key>"}}) {
    CallFormat format = format_of(parser);
    format.sure = true;
    const Read got = read(CallReader(format, tools(), "id"), text, 4);
    EXPECT_LE(got.content.size(), text.size());
  }
}

}  // namespace
}  // namespace strata::serve
