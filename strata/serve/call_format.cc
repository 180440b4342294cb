// How a model's calls are written: found by rendering conversations with calls through its chat
// template, or named as vLLM names its parsers.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "strata/serve/call_syntax.h"
#include "strata/serve/tools.h"

namespace strata::serve {
namespace {

using Kind = CallFormat::Kind;

constexpr const char* kName = "probe_of_a_name";

Json probe_call(int number, const Json& arguments) {
  return {{"type", "function"},
          {"id", fmt::format("call0000{}", number)},
          {"function", {{"name", kName + std::to_string(number)}, {"arguments", arguments}}}};
}

/// Where the JSON object stands that has the probe's name; {0, 0}: nowhere.
std::pair<std::size_t, std::size_t> object_of(const std::string& text, int number) {
  const std::size_t name = text.find(kName + std::to_string(number));
  if (name == text.npos) return {0, 0};
  const std::size_t from = text.rfind('{', name);
  if (from == text.npos) return {0, 0};
  const auto to = behind_value(text, from);
  if (!to) return {0, 0};
  const Json call = Json::parse(text.substr(from, *to - from), nullptr, false);
  return call.is_object() && call.contains("name") ? std::pair(from, *to)
                                                   : std::pair<std::size_t, std::size_t>{0, 0};
}

/// Renders what the model is asked, and an answer of so many calls with these arguments.
using Render = std::function<std::string(int calls, const Json& arguments)>;

std::size_t equal_beginning(std::string_view a, std::string_view b) {
  std::size_t n = 0;
  while (n < std::min(a.size(), b.size()) && a[n] == b[n]) ++n;
  return n;
}

/// Cuts a text before the token with which the model ends an answer, and spaces before that.
std::string until_end(std::string text, const engine::LanguageModel& lm) {
  std::size_t end = text.size();
  for (std::int32_t eos : lm.generation.eos) {
    const std::string token = lm.tokenizer->token_of(eos);
    if (!token.empty()) end = std::min(end, text.find(token));
  }
  text.resize(end);
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

std::string from_word(std::string text) {
  while (!text.empty() && is_space(text[0])) text.erase(0, 1);
  return text;
}

/// What begins `tail` and the text behind the first `mark` of `other`, up to the end of a tag.
std::string shared_end(std::string_view tail, std::string_view other, const std::string& mark) {
  const std::size_t at = other.find(mark);
  if (at == other.npos) return {};
  const std::string_view both =
      tail.substr(0, equal_beginning(tail, other.substr(at + mark.size())));
  const std::size_t last = both.find_last_of(">]");
  return last == both.npos ? std::string() : std::string(trimmed(both.substr(0, last + 1)));
}

/// Whether a reader finds the probes' calls in an answer as the template writes it.
bool reads(const CallFormat& format, std::string_view answer, int calls, const Json& arguments) {
  ToolChoice choice{.kind = ToolChoice::Kind::automatic};
  for (int i = 1; i <= calls; ++i) choice.tools.push_back(kName + std::to_string(i));
  CallReader reader(format, choice, "");
  const CallReader::Part part = reader.add(answer, true);
  if (part.calls.size() != static_cast<std::size_t>(calls)) return false;
  for (int i = 0; i < calls; ++i) {
    const ToolCall& call = part.calls[static_cast<std::size_t>(i)];
    if (call.name != choice.tools[static_cast<std::size_t>(i)] ||
        Json::parse(call.arguments, nullptr, false) != arguments)
      return false;
  }
  return true;
}

/// Objects with a name and arguments.
std::optional<CallFormat> json_format(const Render& render, const std::string& asked,
                                      const engine::LanguageModel& lm) {
  const Json arguments = {{"probe_key", 1}};
  const std::string one = render(1, arguments);
  const auto [from, to] = object_of(one, 1);
  if (to == 0) return std::nullopt;
  CallFormat out{.known = true};
  const std::size_t same = equal_beginning(asked, std::string_view(one).substr(0, from));
  out.begin = from_word(one.substr(same, from - same));
  const Json call = Json::parse(one.substr(from, to - from), nullptr, false);
  if (!call.contains("arguments") && call.contains("parameters")) out.arguments = "parameters";
  // What stands behind, up to the token with which the model ends an answer.
  out.end = until_end(one.substr(to), lm);
  const std::string two = render(2, arguments);
  const auto [first, first_end] = object_of(two, 1);
  const auto [second, second_end] = object_of(two, 2);
  if (first_end > 0 && second_end > 0 && second > first_end) {
    out.several = true;
    out.between = two.substr(first_end, second - first_end);
  }
  return out;
}

/// The parts around name, keys and values of a call with two arguments.
std::optional<CallFormat> tagged_format(const Render& render, const std::string& asked,
                                        const engine::LanguageModel& lm) {
  const Json arguments = {{"probe_key", "probe_value"}, {"other_key", "other_value"}};
  const std::string one = render(1, arguments), name = kName + std::string("1");
  std::size_t at = 0;
  std::vector<std::string> between;
  for (const std::string& word : {name, std::string("probe_key"), std::string("probe_value"),
                                  std::string("other_key"), std::string("other_value")}) {
    const std::size_t found = one.find(word, at);
    if (found == one.npos) return std::nullopt;
    between.push_back(one.substr(at, found - at));
    at = found + word.size();
  }
  CallFormat out{.several = true, .known = true, .kind = Kind::tagged};
  CallFormat::Tags& tags = out.tags;
  tags.before_name = from_word(between[0].substr(equal_beginning(asked, between[0])));
  tags.after_key = between[2];
  // Before a key stands what is there before both, from the beginning of a tag on.
  const std::string &before_first = between[1], &before_second = between[3];
  std::size_t same = 0;
  while (same < std::min(before_first.size(), before_second.size()) &&
         before_first[before_first.size() - 1 - same] ==
             before_second[before_second.size() - 1 - same])
    ++same;
  std::string shared = before_first.substr(before_first.size() - same);
  shared.erase(0, std::min(shared.find_first_of("<["), shared.size()));
  if (shared.empty() || trimmed(tags.after_key).empty()) return std::nullopt;
  tags.before_key = shared;
  tags.after_name = before_first.substr(0, before_first.size() - shared.size());
  tags.after_value = before_second.substr(0, before_second.size() - shared.size());
  std::string tail = one.substr(at);
  if (trimmed(tags.after_value).empty() || !tail.starts_with(tags.after_value)) return std::nullopt;
  tail = tail.substr(tags.after_value.size());
  const std::string two = render(2, arguments);
  const auto reads_two = [&] {
    return !two.empty() && reads(out, two.substr(equal_beginning(asked, two)), 2, arguments);
  };
  // What stands behind a call with others behind it, and without, is the end of calls.
  tags.end = shared_end(tail, two, "other_value" + tags.after_value);
  out.several = !tags.end.empty() && reads_two();
  if (!out.several) {
    tags.end = std::string(trimmed(until_end(tail, lm)));
    out.several = reads_two();
  }
  if (tags.end.empty() || trimmed(tags.before_name).empty()) return std::nullopt;
  if (!reads(out, one.substr(equal_beginning(asked, one)), 1, arguments)) return std::nullopt;
  return out;
}

/// A list of Python's calls.
std::optional<CallFormat> pythonic_format(const Render& render, const std::string& asked,
                                          const engine::LanguageModel& lm) {
  const Json arguments = {{"probe_key", "probe_value"}};
  const std::string one = render(1, arguments);
  const std::size_t name = one.find(kName + std::string("1("));
  if (name == one.npos) return std::nullopt;
  const std::size_t list = one.rfind('[', name);
  if (list == one.npos) return std::nullopt;
  CallFormat out{.several = true, .known = true, .kind = Kind::pythonic};
  const std::size_t same = std::min(equal_beginning(asked, one), list);
  out.begin = from_word(one.substr(same, list - same));
  if (!reads(out, until_end(one.substr(same), lm), 1, arguments)) return std::nullopt;
  return out;
}

CallFormat hermes() {
  return {
      "<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>", "arguments", true, false};
}
CallFormat bare(const char* arguments) {
  return {.between = "; ", .arguments = arguments, .several = true, .known = true};
}
CallFormat listed(std::string begin, std::string end) {
  return {.begin = std::move(begin),
          .between = ", ",
          .end = std::move(end),
          .several = true,
          .known = true};
}
CallFormat tagged(CallFormat::Tags tags) {
  return {.several = true, .known = true, .kind = Kind::tagged, .tags = std::move(tags)};
}

const std::vector<std::pair<std::string, CallFormat>>& named() {
  static const std::vector<std::pair<std::string, CallFormat>> all = [] {
    CallFormat known_hermes = hermes();
    known_hermes.known = true;
    CallFormat internlm{.begin = "<|action_start|><|plugin|>",
                        .end = "<|action_end|>",
                        .arguments = "parameters",
                        .known = true};
    const CallFormat qwen = tagged({.before_name = "<tool_call>\n<function=",
                                    .after_name = ">\n",
                                    .before_key = "<parameter=",
                                    .after_key = ">\n",
                                    .after_value = "\n</parameter>\n",
                                    .end = "</function>\n</tool_call>"});
    const CallFormat glm = tagged({.before_name = "<tool_call>",
                                   .after_name = "\n",
                                   .before_key = "<arg_key>",
                                   .after_key = "</arg_key>\n<arg_value>",
                                   .after_value = "</arg_value>\n",
                                   .end = "</tool_call>"});
    const CallFormat minimax = tagged({.before_name = "<minimax:tool_call>\n<invoke name=\"",
                                       .after_name = "\">\n",
                                       .before_key = "<parameter name=\"",
                                       .after_key = "\">",
                                       .after_value = "</parameter>\n",
                                       .end = "</invoke>\n</minimax:tool_call>"});
    const CallFormat deepseek = tagged({.before_name = "<\uff5ctool\u2581call\u2581begin\uff5c>",
                                        .after_name = "<\uff5ctool\u2581sep\uff5c>",
                                        .end = "<\uff5ctool\u2581call\u2581end\uff5c>",
                                        .json_arguments = true});
    CallFormat pythonic{.several = true, .known = true, .kind = Kind::pythonic};
    CallFormat llama4 = pythonic;
    llama4.begin = "<|python_start|>";
    return std::vector<std::pair<std::string, CallFormat>>{
        {"deepseek_v31", deepseek},
        {"glm45", glm},
        {"glm47", glm},
        {"granite", listed("<|tool_call|>[", "]")},
        {"hermes", known_hermes},
        {"internlm", internlm},
        {"jamba", listed("<tool_calls>[", "]</tool_calls>")},
        {"llama3_json", bare("parameters")},
        {"llama4_json", bare("parameters")},
        {"llama4_pythonic", llama4},
        {"minimax_m2", minimax},
        {"mistral", listed("[TOOL_CALLS] [", "]")},
        {"phi4_mini_json", listed("functools[", "]")},
        {"pythonic", pythonic},
        {"qwen3_coder", qwen},
        {"qwen3_xml", qwen},
        {"xlam", listed("[", "]")}};
  }();
  return all;
}

}  // namespace

std::optional<CallFormat> named_call_format(std::string_view name) {
  for (const auto& [known, format] : named())
    if (known == name) return format;
  return std::nullopt;
}

std::vector<std::string> call_format_names() {
  std::vector<std::string> out;
  for (const auto& [name, format] : named()) out.push_back(name);
  return out;
}

CallFormat call_format(const engine::LanguageModel& lm) {
  if (!lm.chat_template) return hermes();
  const Json tools =
      Json::array({{{"type", "function"},
                    {"function",
                     {{"name", "other"},
                      {"description", "another"},
                      {"parameters", {{"type", "object"}, {"properties", Json::object()}}}}}}});
  const std::string more = Json{{"tools", tools}}.dump();
  const auto render = [&](int calls, const Json& arguments) -> std::string {
    Json messages = Json::array({{{"role", "user"}, {"content", "x"}}});
    if (calls > 0) {
      Json list = Json::array();
      for (int i = 1; i <= calls; ++i) list.push_back(probe_call(i, arguments));
      messages.push_back({{"role", "assistant"}, {"content", ""}, {"tool_calls", list}});
    }
    auto out = lm.render_chat(messages.dump(), more,
                              calls > 0 ? engine::ChatEnd::message : engine::ChatEnd::answer);
    return out ? out->text : std::string();
  };
  const std::string asked = render(0, Json());
  if (asked.empty()) return hermes();
  for (const auto& find : {json_format, tagged_format, pythonic_format})
    if (const auto found = find(render, asked, lm)) return *found;
  return hermes();
}

}  // namespace strata::serve
