#include "strata/tokenizer/chat_template/chat_template.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace strata::tokenizer {
namespace {

using nlohmann::ordered_json;

const std::string kFolder = (std::filesystem::path(__FILE__).parent_path() / "testdata/").string();

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}
/// The first line of a golden file, and the others.
std::pair<ordered_json, std::vector<ordered_json>> golden(const std::string& name) {
  std::ifstream in(kFolder + name);
  std::pair<ordered_json, std::vector<ordered_json>> out;
  std::string line;
  std::getline(in, line);
  out.first = ordered_json::parse(line);
  while (std::getline(in, line)) out.second.push_back(ordered_json::parse(line));
  return out;
}
std::uint32_t crc32(const std::string& text) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}
std::tm now() {
  std::tm t{};
  t.tm_year = 124, t.tm_mon = 6, t.tm_mday = 26, t.tm_hour = 9, t.tm_min = 5, t.tm_sec = 7;
  t.tm_wday = 5, t.tm_yday = 207;
  return t;
}

TEST(ChatTemplate, RendersSmallTemplatesAsJinja) {
  const auto [head, cases] = golden("small.json");
  ASSERT_GT(cases.size(), 150u);
  for (const ordered_json& c : cases) {
    const std::string text = c["template"];
    auto parsed = ChatTemplate::parse(text);
    if (c.contains("error")) {
      EXPECT_FALSE(parsed && parsed->render(head["names"], now())) << text << "\n" << c["error"];
      continue;
    }
    ASSERT_TRUE(parsed) << text << "\n" << parsed.status().message();
    auto got = parsed->render(head["names"], now());
    ASSERT_TRUE(got) << text << "\n" << got.status().message();
    EXPECT_EQ(got->text, c["text"].get<std::string>()) << text;
  }
}

TEST(ChatTemplate, RendersSnippetsAsJinja) {
  const ordered_json file = ordered_json::parse(read(kFolder + "snippets.json"));
  std::tm at = now();
  for (const ordered_json& c : file["cases"]) {
    const std::string text = c[0];
    const auto parsed = ChatTemplate::parse(text);
    if (c[1].is_null()) {
      EXPECT_FALSE(parsed && parsed->render(file["values"], at)) << text;
      continue;
    }
    ASSERT_TRUE(parsed) << text << "\n" << parsed.status().message();
    const auto got = parsed->render(file["values"], at);
    ASSERT_TRUE(got) << text << "\n" << got.status().message();
    EXPECT_EQ(got->text, c[1].get<std::string>()) << text;
  }
}

TEST(ChatTemplate, RendersPublishedTemplatesAsTransformers) {
  const auto [head, cases] = golden("published.json");
  std::map<std::string, ChatTemplate> templates;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".jinja") continue;
    auto parsed = ChatTemplate::parse(read(entry.path().string()));
    ASSERT_TRUE(parsed) << entry.path() << ": " << parsed.status().message();
    templates.emplace(entry.path().stem().string(), std::move(*parsed));
  }
  EXPECT_GE(templates.size(), 60u);
  ChatOptions options;
  options.now = now();
  for (const auto& [name, token] : head["tokens"].items()) options.special_tokens[name] = token;
  for (const ordered_json& c : cases) {
    const std::string where =
        c["template"].get<std::string>() + " of " + c["chat"].get<std::string>();
    ordered_json more = head["chats"][c["chat"].get<std::string>()];
    const ordered_json messages = more["messages"];
    more.erase("messages");
    auto got = templates.at(c["template"]).apply(messages, options, more);
    if (c.contains("error")) {
      EXPECT_FALSE(got) << where << "\n" << c["error"] << "\n" << got->text;
      continue;
    }
    ASSERT_TRUE(got) << where << ": " << got.status().message();
    EXPECT_TRUE(got->text.starts_with(c["text"].get<std::string>())) << where << "\n"
                                                                     << got->text << "\nWANTED\n"
                                                                     << c["text"];
    EXPECT_EQ(got->text.size(), c["bytes"].get<std::size_t>()) << where;
    EXPECT_EQ(crc32(got->text), c["crc32"].get<std::uint32_t>()) << where;
  }
}

ordered_json chat(std::initializer_list<std::pair<const char*, std::string>> said) {
  ordered_json out = ordered_json::array();
  for (const auto& [role, content] : said) out.push_back({{"role", role}, {"content", content}});
  return out;
}
std::string of(const RenderedChat& chat, const std::vector<Span>& spans) {
  std::string out;
  for (const Span& s : spans) out += "[" + chat.text.substr(s.begin, s.end - s.begin) + "]";
  return out;
}
const char* const kChatml =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m['content'] | trim }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

TEST(ChatTemplate, TellsWhatTheMessagesSaidFromWhatItAdds) {
  const auto t = ChatTemplate::parse(kChatml);
  ASSERT_TRUE(t);
  const auto got = t->apply(chat({{"user", "  Hi<|im_end|> "}}), {.add_generation_prompt = true});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->text, "<|im_start|>user\nHi<|im_end|><|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(of(*got, got->input), "[user][Hi<|im_end|>]");
}

TEST(ChatTemplate, KeepsMarksThroughOperations) {
  const auto input = [](const std::string& expression) {
    const auto t = ChatTemplate::parse("{{ " + expression + " }}");
    EXPECT_TRUE(t) << t.status().message();
    const auto got = t->render({{"x", "aB,c"}, {"l", {"p", "q"}}});
    EXPECT_TRUE(got) << got.status().message();
    return got ? got->text + " " + of(*got, got->input) : "";
  };
  EXPECT_EQ(input("'<' ~ x ~ '>'"), "<aB,c> [aB,c]");
  EXPECT_EQ(input("x | upper"), "AB,C [AB,C]");
  EXPECT_EQ(input("x.split(',') | join('-')"), "aB-c [aB][c]");
  EXPECT_EQ(input("x | replace('B', '!')"), "a!,c [a][,c]");
  EXPECT_EQ(input("x[::-1]"), "c,Ba [c,Ba]");
  EXPECT_EQ(input("l | tojson"), "[\"p\", \"q\"] [\"p\"][\"q\"]");
  EXPECT_EQ(input("('a' ~ x) | tojson"), "\"aaB,c\" [aB,c]");
  EXPECT_EQ(input("x | length"), "4 ");
  EXPECT_EQ(input("'%s;' % x"), "aB,c; [aB,c]");
  EXPECT_EQ(input("x * 2"), "aB,caB,c [aB,caB,c]");
  EXPECT_EQ(input("l"), "['p', 'q'] ['p']['q']");
}

TEST(ChatTemplate, EndsWhereTheLastMessageGoesOn) {
  const auto t = ChatTemplate::parse(kChatml);
  ASSERT_TRUE(t);
  const auto messages = chat({{"user", "Count"}, {"assistant", " one, two, "}});
  const auto got = t->apply(messages, {.continue_final_message = true});
  ASSERT_TRUE(got) << got.status().message();
  EXPECT_EQ(got->text, "<|im_start|>user\nCount<|im_end|>\n<|im_start|>assistant\none, two,");
  EXPECT_EQ(of(*got, got->input), "[user][Count][assistant][one, two,]");
  const auto silent = ChatTemplate::parse("{{ messages | length }}");
  EXPECT_FALSE(silent->apply(messages, {.continue_final_message = true}));
  EXPECT_FALSE(t->apply(ordered_json::array(), {.continue_final_message = true}));
}

TEST(ChatTemplate, MarksWhatTheModelIsToLearn) {
  const auto t = ChatTemplate::parse(
      "{% for m in messages %}{{ m.role }}: {% if m.role == 'assistant' %}{% generation %}"
      "{{ m.content }}!{% endgeneration %}{% else %}{{ m.content }}{% endif %}\n{% endfor %}");
  const auto got = t->apply(chat({{"user", "a"}, {"assistant", "b"}, {"assistant", "c"}}));
  ASSERT_TRUE(got);
  EXPECT_EQ(of(*got, got->generation), "[b!][c!]");
}

TEST(ChatTemplate, DropsNullsAndCopiesReasoning) {
  const auto t = ChatTemplate::parse(
      "{% for m in messages %}{{ m.content is defined }}{{ m.thinking }}{{ m.reasoning_content }}"
      "{% endfor %}");
  const auto got = t->apply(
      ordered_json::parse(R"([{"role": "assistant", "content": null, "reasoning": "r"}])"));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->text, "Falserr");
}

TEST(ChatTemplate, HasLimits) {
  const auto why = [](const std::string& text) {
    const auto t = ChatTemplate::parse(text);
    if (!t) return std::string(t.status().message());
    const auto got = t->render(ordered_json::object());
    return got ? std::string("no error") : std::string(got.status().message());
  };
  const auto says = [&](const std::string& text, const std::string& what) {
    EXPECT_NE(why(text).find(what), std::string::npos) << text.substr(0, 80) << "\n" << why(text);
  };
  says("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "steps");
  says("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "too deep");
  says("{{ 'x' * 9000000 }}", "8 MiB");
  says("{% for i in range(999) %}{{ 'x' * 9000 }}{% endfor %}", "8388608 bytes");
  says(
      "{% set ns = namespace(s='x') %}{% for i in range(30) %}{% set ns.s = ns.s ~ ns.s %}"
      "{% endfor %}",
      "grows beyond");
  says("{{ 2 ** 99 }}", "64 bits");
  says("{{ 9223372036854775807 + 1 }}", "64 bits");
  says("{{ [0] * 999999999 }}", "million");
  says("{{ " + std::string(100000, '('), "nested");
  says("{{ " + std::string(3000, '-') + "1 }}", "nested too deep");
  says("{{ x" + std::string(3000, '|') + " }}", "expected a name");
  std::string filters = "{{ 1";
  for (int i = 0; i < 3000; ++i) filters += "|abs";
  says(filters + " }}", "nested too deep");
  std::string blocks;
  for (int i = 0; i < 3000; ++i) blocks += "{% if true %}";
  says(blocks, "nested too deep");
  says(std::string((1 << 20) + 1, 'x'), "more than 1048576");
  says("{{ ''.__class__.__mro__ }}", "unsafe");
  says("{% import 'os' as os %}", "not allowed");
  says("line\n\n{{ 1 / 0 }}", "line 3: division by zero");
  EXPECT_FALSE(ChatTemplate::parse(kChatml)->apply(ordered_json::object()));
}

TEST(ChatTemplate, NoDamageToATemplateCrashes) {
  const std::string text = read(kFolder + "Qwen-Qwen3-0.6B.jinja");
  for (std::size_t i = 0; i < text.size(); i += 7)
    for (const std::string& damaged :
         {text.substr(0, i), text.substr(i), text.substr(0, i) + "{%" + text.substr(i)})
      if (const auto t = ChatTemplate::parse(damaged))
        (void)t->apply(chat({{"user", "Hi"}}), {.add_generation_prompt = true});
}

}  // namespace
}  // namespace strata::tokenizer
