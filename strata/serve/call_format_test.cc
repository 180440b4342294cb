// How calls are written, found in chat templates as their models have them.
#include <gtest/gtest.h>

#include <string>

#include "strata/serve/tools.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::serve {
namespace {

using Kind = CallFormat::Kind;

engine::LanguageModel speaks(const std::string& chat_template) {
  engine::LanguageModel lm;
  lm.tokenizer = std::make_shared<const tokenizer::ByteTokenizer>();
  auto parsed = tokenizer::ChatTemplate::parse(chat_template);
  EXPECT_TRUE(parsed) << parsed.status().message();
  lm.chat_template = *parsed;
  return lm;
}

const std::string kBegin =
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}{% endfor %}</tools>{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}";
const std::string kEnd =
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

// As Qwen3-Coder's template.
const std::string kQwen =
    kBegin +
    "\n<tool_call>\n<function={{ c.function.name }}>\n{% for k, v in c.function.arguments | items "
    "%}"
    "<parameter={{ k }}>\n{{ v }}\n</parameter>\n{% endfor %}</function>\n</tool_call>" +
    kEnd;
// As GLM-4.5's.
const std::string kGlm =
    kBegin +
    "\n<tool_call>{{ c.function.name }}\n{% for k, v in c.function.arguments | items %}"
    "<arg_key>{{ k }}</arg_key>\n<arg_value>{{ v }}</arg_value>\n{% endfor %}</tool_call>" +
    kEnd;
// As MiniMax-M2's, of which all calls have one mark around.
const std::string kInvoke =
    kBegin +
    "<calls>\n<invoke name=\"{{ c.function.name }}\">\n{% for k, v in c.function.arguments | items "
    "%}<parameter name=\"{{ k }}\">{{ v }}</parameter>\n{% endfor %}</invoke>\n</calls>" +
    kEnd;
const std::string kPythonic =
    "{% for m in messages %}<|h|>{{ m.role }}\n{{ m.content }}{% if m.tool_calls %}[{% for c in "
    "m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments | items %}{{ k "
    "}}='{{ "
    "v }}'{% if not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %}, {% endif %}"
    "{% endfor %}]{% endif %}{% endfor %}{% if add_generation_prompt %}<|h|>assistant\n{% endif %}";

TEST(CallFormat, TagsAreThoseOfTheTemplate) {
  const CallFormat qwen = call_format(speaks(kQwen)), named = *named_call_format("qwen3_coder");
  EXPECT_EQ(qwen.kind, Kind::tagged);
  EXPECT_TRUE(qwen.known);
  EXPECT_TRUE(qwen.several);
  EXPECT_EQ(qwen.tags.before_name, named.tags.before_name);
  EXPECT_EQ(qwen.tags.after_name, named.tags.after_name);
  EXPECT_EQ(qwen.tags.before_key, named.tags.before_key);
  EXPECT_EQ(qwen.tags.after_key, named.tags.after_key);
  EXPECT_EQ(qwen.tags.after_value, named.tags.after_value);
  EXPECT_EQ(qwen.tags.end.substr(0, named.tags.end.size()), named.tags.end);
  const CallFormat glm = call_format(speaks(kGlm)), of_glm = *named_call_format("glm45");
  EXPECT_EQ(glm.kind, Kind::tagged);
  EXPECT_EQ(glm.tags.before_name, of_glm.tags.before_name);
  EXPECT_EQ(glm.tags.before_key, of_glm.tags.before_key);
  EXPECT_EQ(glm.tags.after_key, of_glm.tags.after_key);
  EXPECT_EQ(glm.tags.after_value, of_glm.tags.after_value);
  const CallFormat invoke = call_format(speaks(kInvoke));
  EXPECT_EQ(invoke.kind, Kind::tagged);
  EXPECT_EQ(invoke.tags.before_key, "<parameter name=\"");
  EXPECT_EQ(call_format(speaks(kPythonic)).kind, Kind::pythonic);
}

TEST(CallFormat, WhatATemplateWritesIsReadBack) {
  const Json arguments = Json::parse(R"({"city": "Paris \"x\"", "days": 3, "list": [1, "a"]})");
  Json text = arguments;
  text["days"] = "3";
  text["list"] = "[1, \"a\"]";
  for (const auto& [chat_template, written, wanted] :
       {std::tuple(kQwen, text, arguments), {kGlm, text, arguments}, {kInvoke, text, arguments}}) {
    const engine::LanguageModel lm = speaks(chat_template);
    const Json call = {{"type", "function"},
                       {"function", {{"name", "weather"}, {"arguments", written}}}};
    const Json messages = Json::array({{{"role", "user"}, {"content", "x"}},
                                       {{"role", "assistant"},
                                        {"content", "I look."},
                                        {"tool_calls", Json::array({call, call})}}});
    const auto rendered = lm.render_chat(messages.dump(), "{}", engine::ChatEnd::message);
    ASSERT_TRUE(rendered) << rendered.status().message();
    std::string answer = rendered->text.substr(rendered->text.find("I look."));
    answer.resize(answer.find("<|im_end|>"));
    CallReader reader(call_format(lm), {.tools = {"weather"}}, "id");
    CallReader::Part all;
    for (char c : answer) {
      CallReader::Part part = reader.add(std::string(1, c), false);
      all.content += part.content;
      all.calls.insert(all.calls.end(), part.calls.begin(), part.calls.end());
    }
    EXPECT_EQ(all.content, "I look.");
    ASSERT_EQ(all.calls.size(), 2u) << answer;
    for (const ToolCall& one : all.calls) EXPECT_EQ(Json::parse(one.arguments), wanted) << answer;
  }
}

TEST(CallFormat, NamesAreThoseOfVllm) {
  for (const char* name : {"hermes", "llama3_json", "mistral", "pythonic", "llama4_pythonic",
                           "qwen3_coder", "qwen3_xml", "glm45", "minimax_m2", "deepseek_v31"})
    EXPECT_TRUE(named_call_format(name)) << name;
  EXPECT_FALSE(named_call_format("mine"));
  EXPECT_GE(call_format_names().size(), 15u);
}

}  // namespace
}  // namespace strata::serve
