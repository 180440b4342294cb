#include "strata/serve/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "strata/engine/grammar/automaton.h"
#include "strata/serve/structured.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::serve {
namespace {

using ::testing::HasSubstr;

engine::LanguageModel speaks(const std::string& chat_template) {
  engine::LanguageModel lm;
  lm.tokenizer = std::make_shared<const tokenizer::ByteTokenizer>();
  auto parsed = tokenizer::ChatTemplate::parse(chat_template);
  EXPECT_TRUE(parsed) << parsed.status().message();
  lm.chat_template = *parsed;
  return lm;
}

// As the templates of these families write calls.
constexpr const char* kHermes =
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}{% endfor %}</tools>{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% if m.tool_calls %}"
    "{% for c in m.tool_calls %}{% if loop.first and m.content or not loop.first %}{{ '\\n' }}{% "
    "endif %}"
    "<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | "
    "tojson }}}\n</tool_call>{% endfor %}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
constexpr const char* kLlama =
    "{% for m in messages %}{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}"
    "{{ raise_exception('one call at once') }}{% endif %}<|h|>assistant\n\n{\"name\": \"{{ "
    "m.tool_calls[0].function.name }}\", \"parameters\": {{ m.tool_calls[0].function.arguments | "
    "tojson }}}{% else %}<|h|>{{ m.role }}\n\n{{ m.content }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|h|>assistant\n\n{% endif %}";
constexpr const char* kMistral =
    "{% for m in messages %}{% if m.tool_calls %}[TOOL_CALLS] [{% for c in m.tool_calls "
    "%}{\"name\": "
    "\"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}, \"id\": \"{{ "
    "c.id "
    "}}\"}{% if not loop.last %}, {% endif %}{% endfor %}]{% else %}[INST]{{ m.content }}[/INST]"
    "{% endif %}{% endfor %}";

TEST(Tools, TheWayOfCallsIsTheTemplates) {
  const CallFormat hermes = call_format(speaks(kHermes));
  EXPECT_TRUE(hermes.known);
  EXPECT_EQ(hermes.begin, "<tool_call>\n");
  EXPECT_EQ(hermes.between, "\n</tool_call>\n<tool_call>\n");
  EXPECT_EQ(hermes.end, "\n</tool_call>");
  EXPECT_EQ(hermes.arguments, "arguments");
  const CallFormat llama = call_format(speaks(kLlama));
  EXPECT_EQ(llama.begin + llama.end, "");
  EXPECT_EQ(llama.arguments, "parameters");
  EXPECT_FALSE(llama.several);
  const CallFormat mistral = call_format(speaks(kMistral));
  EXPECT_EQ(mistral.begin, "[TOOL_CALLS] [");
  EXPECT_EQ(mistral.between, ", ");
  EXPECT_EQ(mistral.end, "]");
  EXPECT_FALSE(call_format(speaks("{% for m in messages %}{{ m.content }}{% endfor %}")).known);
}

struct Read {
  std::string content;
  std::vector<ToolCall> calls;
};
/// In pieces of a length.
Read read(const CallFormat& format, const std::string& text, std::size_t piece) {
  CallReader reader(format, {.kind = ToolChoice::Kind::automatic, .tools = {"f", "g"}}, "id");
  Read out;
  for (std::size_t at = 0; at <= text.size(); at += piece) {
    const bool is_end = at + piece > text.size();
    CallReader::Part part = reader.add(text.substr(at, piece), is_end);
    out.content += part.content;
    out.calls.insert(out.calls.end(), part.calls.begin(), part.calls.end());
  }
  return out;
}

TEST(Tools, CallsAreReadInEverySplitOfTheText) {
  const CallFormat hermes = call_format(speaks(kHermes)), llama = call_format(speaks(kLlama)),
                   mistral = call_format(speaks(kMistral));
  struct Case {
    const CallFormat& format;
    std::string text, content;
    std::vector<std::pair<std::string, std::string>> calls;
  };
  const std::string one = R"({"name": "f", "arguments": {"a":  "}\"<" , "b": [1, {}]}})";
  const std::string a = R"({"a":  "}\"<" , "b": [1, {}]})";
  for (const Case& c : {
           Case{hermes, "<tool_call>\n" + one + "\n</tool_call>", "", {{"f", a}}},
           {hermes,
            "I look.\n<tool_call>\n" + one +
                "\n</tool_call>\n<tool_call>\n{\"name\": \"g\"}\n</tool_call>",
            "I look.",
            {{"f", a}, {"g", "{}"}}},
           {hermes, "a < b and <tool", "a < b and <tool", {}},
           {hermes, "<tool_call>\nnothing", "<tool_call>\nnothing", {}},
           {hermes, "<tool_call>{\"name\": \"h\"}", "<tool_call>{\"name\": \"h\"}", {}},
           {hermes, "<tool_call>{\"name\": \"f\", ", "<tool_call>{\"name\": \"f\", ", {}},
           {llama, R"({"name": "g", "parameters": {"x": 1}})", "", {{"g", R"({"x": 1})"}}},
           {llama, R"(<|python_tag|>{"name": "g", "parameters": {}})", "", {{"g", "{}"}}},
           {llama, "Hello {x}", "Hello {x}", {}},
           {llama, R"({"name": "unknown"})", R"({"name": "unknown"})", {}},
           {mistral,
            "[TOOL_CALLS] [" + one + ", {\"name\": \"g\", \"arguments\": \"{}\"}]",
            "",
            {{"f", a}, {"g", "{}"}}},
       })
    for (const std::size_t piece : {1, 2, 3, 5, 1000}) {
      CallFormat format = c.format;
      if (&c.format == &mistral) format.begin = "[TOOL_CALLS] [";
      const Read got = read(format, c.text, piece);
      EXPECT_EQ(got.content, c.content) << c.text << " by " << piece;
      ASSERT_EQ(got.calls.size(), c.calls.size()) << c.text << " by " << piece;
      for (std::size_t i = 0; i < c.calls.size(); ++i) {
        EXPECT_EQ(got.calls[i].name, c.calls[i].first);
        EXPECT_EQ(got.calls[i].arguments, c.calls[i].second);
        EXPECT_EQ(got.calls[i].id, "id" + std::to_string(i));
      }
    }
}

TEST(Tools, PiecesOfCallsAddUpToThem) {
  CallFormat hermes = call_format(speaks(kHermes));
  hermes.sure = true;
  const std::string a = R"({"a":  "}\"<" , "b": [1, {}]})",
                    f = R"({"name": "f", "arguments": )" + a + "}";
  const std::string whole = "Well.\n<tool_call>\n" + f + "\n</tool_call>\n<tool_call>\n" + f;
  for (const std::string& text : {whole + "\n</tool_call>", whole.substr(0, whole.size() - 6)})
    for (const std::size_t piece : {1, 2, 3, 5, 1000}) {
      CallReader reader(hermes, {.kind = ToolChoice::Kind::automatic, .tools = {"f"}}, "id");
      std::string content;
      std::vector<ToolCall> calls, built;
      for (std::size_t at = 0; at <= text.size(); at += piece) {
        const CallReader::Part part =
            reader.add(std::string_view(text).substr(at, piece), at + piece > text.size());
        content += part.content;
        calls.insert(calls.end(), part.calls.begin(), part.calls.end());
        for (const CallPiece& p : part.pieces) {
          if (p.index == built.size()) built.push_back({p.id, p.name, ""});
          ASSERT_LT(p.index, built.size());
          built[p.index].arguments += p.arguments;
        }
      }
      EXPECT_EQ(content, "Well.");
      ASSERT_EQ(calls.size(), 2u);
      ASSERT_EQ(built.size(), 2u);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(built[i].id, calls[i].id);
        EXPECT_EQ(built[i].name, "f");
        EXPECT_EQ(built[i].arguments, calls[i].arguments) << text << " by " << piece;
      }
      EXPECT_EQ(calls[0].arguments, a);
    }
}

Json request(const std::string& choice) {
  return Json::parse(R"({"tools": [
      {"type": "function", "function": {"name": "f", "parameters": {"type": "object",
        "properties": {"x": {"type": "integer"}}, "required": ["x"]}}},
      {"type": "function", "function": {"name": "g"}}], "tool_choice": )" +
                     choice + "}");
}

TEST(Tools, AFormOfCallsTakesCallsAndNothingElse) {
  const CallFormat hermes = call_format(speaks(kHermes));
  const Json any = request("\"required\"");
  const Form form = form_of_calls(any, read_tools(any), hermes);
  engine::grammar::Automaton a(form.make());
  const std::string f = R"({"name": "f", "arguments": {"x": 3}})",
                    g = R"({"name": "g", "arguments": {}})";
  EXPECT_TRUE(a.accepts("<tool_call>\n" + f + "\n</tool_call>"));
  EXPECT_TRUE(a.accepts("<tool_call>\n" + g + hermes.between + f + "\n</tool_call>"));
  EXPECT_FALSE(a.accepts("<tool_call>\n" + f));
  EXPECT_FALSE(
      a.accepts("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": \"3\"}}\n</tool_call>"));
  EXPECT_FALSE(a.accepts("hello"));
  const Json named = request(R"({"type": "function", "function": {"name": "g"}})");
  engine::grammar::Automaton b(form_of_calls(named, read_tools(named), hermes).make());
  EXPECT_TRUE(b.accepts("<tool_call>\n" + g + "\n</tool_call>"));
  EXPECT_FALSE(b.accepts("<tool_call>\n" + f + "\n</tool_call>"));
  EXPECT_FALSE(b.accepts("<tool_call>\n" + g + hermes.between + g + "\n</tool_call>"));
}

TEST(Tools, TextIsFreeUntilACallBegins) {
  const Json body = request("\"auto\"");
  const auto form = [&](const char* chat_template) {
    return engine::grammar::Automaton(
        form_of_text_with_calls(body, read_tools(body), call_format(speaks(chat_template))).make());
  };
  auto hermes = form(kHermes);
  const std::string f = R"({"name": "f", "arguments": {"x": 3}})",
                    g = R"({"name":"g","arguments":{}})";
  EXPECT_TRUE(hermes.accepts("Hello <tool you {\"name\": 3}"));
  EXPECT_TRUE(hermes.accepts("I look.\n<tool_call>\n" + f + "\n</tool_call>"));
  EXPECT_TRUE(
      hermes.accepts("<tool_call>" + g + "</tool_call>\n<tool_call>\n" + f + "\n</tool_call>"));
  EXPECT_FALSE(hermes.accepts("<tool_call>\n" + f)) << "not whole";
  EXPECT_FALSE(hermes.accepts(R"(<tool_call>{"name": "f", "arguments": {"x": "3"}}</tool_call>)"));
  EXPECT_FALSE(hermes.accepts(R"(<tool_call>{"name": "h", "arguments": {}}</tool_call>)"));
  auto llama = form(kLlama);
  EXPECT_TRUE(llama.accepts("Hello"));
  EXPECT_TRUE(llama.accepts(R"({"other": 1})"));
  EXPECT_TRUE(llama.accepts(R"({"name": "f", "parameters": {"x": 3}})"));
  EXPECT_FALSE(llama.accepts(R"({"name": "f", "parameters": {"y": 3}})"));
  auto mistral = form(kMistral);
  EXPECT_TRUE(mistral.accepts("[TOOL_CALLS] [" + f + ", " + g + "]"));
  EXPECT_FALSE(mistral.accepts("[TOOL_CALLS] [1]"));
  Json odd = body;
  odd["tools"][0]["function"]["parameters"] = {{"not", {{"type", "null"}}}};
  const auto made = [&] {
    return form_of_text_with_calls(odd, read_tools(odd), call_format(speaks(kHermes))).make();
  };
  EXPECT_TRUE(engine::grammar::Automaton(made()).accepts("<tool_call>" + f + "</tool_call>"));
  odd["tools"][0]["function"]["strict"] = true;
  EXPECT_ANY_THROW(made());
}

template <class F>
std::string refused(const F& f) {
  try {
    f();
  } catch (const ApiError& e) {
    return e.param + ": " + e.message;
  }
  return "none";
}

TEST(Tools, WhatIsNoToolOrChoiceIsRefused) {
  for (const auto& [body, says] :
       {std::pair(R"({"tools": []})", "tools: "),
        {R"({"tools": [{"type": "x"}]})", "tools: each"},
        {R"({"tool_choice": "auto"})", "tool_choice: When using"},
        {R"({"tools": [{"function": {"name": "a b"}}]})", "tools: a function's name"},
        {R"({"tools": [{"function": {"name": "f"}}], "tool_choice": "some"})", "tool_choice: "},
        {R"({"tools": [{"function": {"name": "f"}}], "tool_choice": {"function": {"name": "g"}}})",
         "does not match"},
        {R"({"tools": [{"function": {"name": "f"}}], "parallel_tool_calls": 1})",
         "parallel_tool_calls"}})
    EXPECT_THAT(refused([&] { read_tools(Json::parse(body)); }), HasSubstr(says)) << body;
  Json message =
      Json::parse(R"({"tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1}"}}]})");
  prepare_calls(message);
  EXPECT_EQ(message["tool_calls"][0]["function"]["arguments"]["a"], 1);
}

TEST(Structured, FormsAreReadFromEveryField) {
  const auto takes = [](const std::string& body, const std::string& text) {
    const auto form = read_form(Json::parse(body));
    return form && engine::grammar::Automaton(form->make()).accepts(text);
  };
  EXPECT_FALSE(read_form(Json::parse(R"({"response_format": {"type": "text"}})")));
  EXPECT_TRUE(takes(R"({"response_format": {"type": "json_object"}})", "{\"a\":1}"));
  EXPECT_TRUE(takes(R"({"response_format": {"type": "json_schema", "json_schema": {"name": "x",
      "schema": {"type": "integer"}}}})",
                    "12"));
  EXPECT_TRUE(takes(R"({"structured_outputs": {"choice": ["a", "bc"]}})", "bc"));
  EXPECT_FALSE(takes(R"({"guided_choice": ["a", "bc"]})", "b"));
  EXPECT_TRUE(takes(R"({"guided_regex": "a+"})", "aa"));
  EXPECT_TRUE(takes(R"({"guided_json": "{\"type\": \"null\"}"})", "null"));
  EXPECT_TRUE(takes(R"({"guided_grammar": "start: \"x\""})", "x"));
  EXPECT_TRUE(takes(R"({"grammar": "root ::= \"x\""})", "x"));
  EXPECT_TRUE(takes(
      R"({"structured_outputs": {"json": {"items": {"type": "null"}}, "disable_any_whitespace": true}})",
      "[null, null]"));
  constexpr const char* kSpaced =
      R"({"structured_outputs": {"json": {"items": {"type": "null"}}, "whitespace_pattern": "[\n x]*"}})";
  EXPECT_TRUE(takes(kSpaced, "[null,\n\n  null]"));
  EXPECT_FALSE(takes(kSpaced, "[null,xnull]")) << "that would be no JSON";
  EXPECT_FALSE(
      takes(R"({"guided_json": {"items": {"type": "null"}}, "guided_whitespace_pattern": " ?"})",
            "[null,\nnull]"));
  for (
      const auto& [body, says] :
      {std::pair(R"({"guided_regex": "a", "guided_choice": ["b"]})", "only use one"),
       {R"({"response_format": {"type": "other"}})", "response_format must be"},
       {R"({"response_format": {"type": "json_schema"}})", "json_schema.schema"},
       {R"({"structured_outputs": {"structural_tag": "x"}})", "a structural tag in JSON"},
       {R"({"structured_outputs": {"json": {}, "disable_any_whitespace": true, "whitespace_pattern": " "}})",
        "exclude each other"},
       {R"({"guided_choice": []})", "guided_choice: "},
       {R"({"guided_regex": ""})", "not empty"},
       {R"({"guided_json": "{"})", "a JSON Schema"}})
    EXPECT_THAT(refused([&] { read_form(Json::parse(body)); }), HasSubstr(says)) << body;
  Guides guides(
      std::make_shared<const engine::grammar::Vocabulary>(std::vector<std::string>{"a", "b"}));
  const auto form = [](const std::string& pattern) {
    return *read_form(Json{{"guided_regex", pattern}});
  };
  const auto first = guides.get(form("a"));
  EXPECT_EQ(guides.get(form("a")), first);
  for (std::size_t i = 0; i <= Guides::kKept; ++i)
    guides.get(form("a{" + std::to_string(i + 1) + "}"));
  EXPECT_NE(guides.get(form("a")), first) << "forgotten by then";
  EXPECT_THAT(refused([&] { guides.get(form("(?=a)")); }),
              HasSubstr("a look-ahead at byte 0 is not supported"));
}

}  // namespace
}  // namespace strata::serve
