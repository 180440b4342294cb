#include "strata/serve/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "strata/base/error.h"
#include "strata/engine/grammar/free_text.h"
#include "strata/engine/grammar/json_schema.h"

namespace strata::serve {
namespace {

using engine::grammar::Grammar;

constexpr std::size_t kMostTools = 128;
constexpr const char* kName = "probe_of_a_name";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

/// Behind the JSON value that begins at `at`; none where it is not whole, or none.
std::optional<std::size_t> behind_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return i;
      if (--depth == 0) return i + 1;
    } else if (depth == 0 && (c == ',' || is_space(c))) {
      return i;
    }
    if (depth == 0 && !in_string && c == '"') return i + 1;
  }
  return std::nullopt;
}

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

Json probe_call(int number) {
  return {{"type", "function"},
          {"id", fmt::format("call0000{}", number)},
          {"function",
           {{"name", kName + std::to_string(number)}, {"arguments", {{"probe_key", number}}}}}};
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

const Json* function_of(const Json& tool) {
  if (!tool.is_object() || tool.value("type", Json("function")) != "function") return nullptr;
  const auto found = tool.find("function");
  if (found == tool.end() || !found->is_object() || !found->value("name", Json()).is_string())
    return nullptr;
  return &*found;
}

}  // namespace

// ---- the template's way -------------------------------------------------------------------------

CallFormat call_format(const engine::LanguageModel& lm) {
  CallFormat hermes{
      "<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>", "arguments", true, false};
  if (!lm.chat_template) return hermes;
  const Json tools =
      Json::array({{{"type", "function"},
                    {"function",
                     {{"name", "other"},
                      {"description", "another"},
                      {"parameters", {{"type", "object"}, {"properties", Json::object()}}}}}}});
  const std::string more = Json{{"tools", tools}}.dump();
  const auto render = [&](int calls, engine::ChatEnd end) -> std::string {
    Json messages = Json::array({{{"role", "user"}, {"content", "x"}}});
    if (calls > 0) {
      Json list = Json::array();
      for (int i = 1; i <= calls; ++i) list.push_back(probe_call(i));
      messages.push_back({{"role", "assistant"}, {"content", ""}, {"tool_calls", list}});
    }
    auto out = lm.render_chat(messages.dump(), more, end);
    return out ? out->text : std::string();
  };
  const std::string asked = render(0, engine::ChatEnd::answer);
  const std::string one = render(1, engine::ChatEnd::message);
  if (asked.empty() || one.empty()) return hermes;
  const auto [from, to] = object_of(one, 1);
  if (to == 0) return hermes;
  CallFormat out{.known = true};
  std::size_t same = 0;
  while (same < std::min(asked.size(), from) && asked[same] == one[same]) ++same;
  out.begin = one.substr(same, from - same);
  while (!out.begin.empty() && is_space(out.begin[0])) out.begin.erase(0, 1);
  const Json call = Json::parse(one.substr(from, to - from), nullptr, false);
  if (!call.contains("arguments") && call.contains("parameters")) out.arguments = "parameters";
  // What stands behind, up to the token with which the model ends an answer.
  std::string tail = one.substr(to);
  std::size_t end = tail.size();
  for (std::int32_t eos : lm.generation.eos) {
    const std::string token = lm.tokenizer->token_of(eos);
    if (!token.empty()) end = std::min(end, tail.find(token));
  }
  out.end = tail.substr(0, end);
  while (!out.end.empty() && is_space(out.end.back())) out.end.pop_back();
  const std::string two = render(2, engine::ChatEnd::message);
  const auto [first, first_end] = object_of(two, 1);
  const auto [second, second_end] = object_of(two, 2);
  if (first_end > 0 && second_end > 0 && second > first_end) {
    out.several = true;
    out.between = two.substr(first_end, second - first_end);
  }
  return out;
}

// ---- requests -----------------------------------------------------------------------------------

ToolChoice read_tools(const Json& body) {
  ToolChoice out;
  const Json tools = body.value("tools", Json());
  const Json choice = body.value("tool_choice", Json());
  if (tools.is_null()) {
    if (!choice.is_null() && choice != "none")
      throw ApiError(400, "When using `tool_choice`, `tools` must be set.", "tool_choice");
    return out;
  }
  if (!tools.is_array() || tools.empty() || tools.size() > kMostTools)
    throw ApiError(400, fmt::format("tools must be a list of 1 to {} functions.", kMostTools),
                   "tools");
  for (const Json& tool : tools) {
    const Json* function = function_of(tool);
    if (function == nullptr)
      throw ApiError(400, "each of tools must be of type function, with a function.name.", "tools");
    const std::string name = (*function)["name"];
    const bool plain =
        !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
        });
    if (!plain)
      throw ApiError(400, "a function's name must be 1 to 64 letters, digits, _, - or dots.",
                     "tools");
    out.tools.push_back(name);
  }
  const Json parallel = body.value("parallel_tool_calls", Json(true));
  if (!parallel.is_boolean() && !parallel.is_null())
    throw ApiError(400, "parallel_tool_calls must be true or false.", "parallel_tool_calls");
  out.parallel = parallel != false;
  using Kind = ToolChoice::Kind;
  if (choice.is_null() || choice == "auto") {
    out.kind = Kind::automatic;
  } else if (choice == "none") {
    out.kind = Kind::none;
  } else if (choice == "required") {
    out.kind = Kind::required;
  } else {
    const Json* function = function_of(choice);
    if (function == nullptr)
      throw ApiError(400, "tool_choice must be none, auto, required or a function's name.",
                     "tool_choice");
    out.kind = Kind::named;
    out.name = (*function)["name"];
    if (std::find(out.tools.begin(), out.tools.end(), out.name) == out.tools.end())
      throw ApiError(400,
                     "The tool specified in `tool_choice` does not match any of the specified "
                     "`tools`",
                     "tool_choice");
  }
  return out;
}

Form form_of_calls(const Json& body, const ToolChoice& choice, const CallFormat& format) {
  Json wanted = Json::array();
  for (const Json& tool : body["tools"]) {
    const Json& function = tool["function"];
    if (choice.kind == ToolChoice::Kind::named && function["name"] != choice.name) continue;
    Json parameters = function.value("parameters", Json::object());
    if (!parameters.is_object() || parameters.empty()) parameters = {{"type", "object"}};
    wanted.push_back({{"name", function["name"]}, {"parameters", parameters}});
  }
  const bool several =
      choice.kind == ToolChoice::Kind::required && format.several && choice.parallel;
  return {fmt::format("calls {} {} {}", several, format.begin, wanted.dump()), "tools",
          [wanted, format, several] {
            Grammar g;
            engine::grammar::JsonText text(g, {});
            std::vector<Grammar::Node> ways;
            for (const Json& one : wanted) {
              const Grammar::Node head =
                  g.text("{\"name\": " + one["name"].dump() + ", \"" + format.arguments + "\": ");
              const Grammar::Node arguments =
                  engine::grammar::add_json_schema(g, text, one["parameters"]);
              const Grammar::Node tail = g.text("}");
              ways.push_back(g.sequence({head, arguments, tail}));
            }
            const Grammar::Rule call = g.add_rule("call");
            g.define(call, g.choice(std::move(ways)));
            const auto again = [&] { return g.rule(call); };
            std::vector<Grammar::Node> parts = {g.text(format.begin), again()};
            if (several) {
              const Grammar::Node between = g.text(format.between), next = again();
              parts.push_back(g.repeat(g.sequence({between, next}), 0, 15));
            }
            parts.push_back(g.text(format.end));
            g.define(g.root(), g.sequence(std::move(parts)));
            return g;
          }};
}

Form form_of_text_with_calls(const Json& body, const ToolChoice& choice, const CallFormat& format) {
  const Json tools = body["tools"];
  const bool several = format.several && choice.parallel;
  const auto make = [tools, format, several] {
    Grammar g;
    engine::grammar::JsonText text(g, {});
    const auto arguments = [&](const Json& function) {
      Json schema = function.value("parameters", Json::object());
      if (!schema.is_object() || schema.empty()) schema = {{"type", "object"}};
      try {
        engine::grammar::read_json_schema(schema);
      } catch (const Error&) {
        if (function.value("strict", Json()) == true) throw;
        return text.object();
      }
      return engine::grammar::add_json_schema(g, text, schema);
    };
    const std::string begin(trimmed(format.begin)), end(trimmed(format.end));
    const Grammar::Rule again = g.add_rule("text with calls"), call = g.add_rule("call"),
                        spaces = g.add_rule("spaces");
    g.define(spaces, g.repeat(g.characters({{'\n', '\n'}, {' ', ' '}}), 0, 8));
    std::vector<Grammar::Node> ways;
    for (const Json& tool : tools) {
      const Json& function = tool["function"];
      // Where nothing stands before a call, its first characters do.
      std::vector<Grammar::Node> parts;
      if (begin.empty()) {
        parts = {g.text(function["name"].dump().substr(1))};
      } else {
        parts = {text.open('{'), g.text("\"name\""), text.colon(), g.text(function["name"].dump())};
      }
      parts.push_back(text.comma());
      parts.push_back(g.text("\"" + format.arguments + "\""));
      parts.push_back(text.colon());
      parts.push_back(arguments(function));
      parts.push_back(text.close('}'));
      ways.push_back(g.sequence(std::move(parts)));
    }
    g.define(call, g.choice(std::move(ways)));
    if (begin.empty()) {
      g.define(again, engine::grammar::free_unless_begun(g, {{"{\"name\": \"", call}}));
      g.define(g.root(), g.rule(again));
      return g;
    }
    const Grammar::Rule calls = g.add_rule("calls");
    std::vector<Grammar::Node> parts = {g.rule(spaces), g.rule(call)};
    // Marks between calls that begin as calls do are those of the next call in the text.
    const std::string between(trimmed(format.between));
    if (several && !between.empty() && between.find(begin) == between.npos) {
      const Grammar::Node mark = g.text(between), space = g.rule(spaces), next = g.rule(call);
      parts.push_back(g.repeat(g.sequence({mark, space, next}), 0, 15));
    }
    parts.push_back(g.rule(spaces));
    parts.push_back(g.text(end));
    if (several) parts.push_back(g.rule(again));
    g.define(calls, g.sequence(std::move(parts)));
    g.define(again, engine::grammar::free_until(g, {{begin, calls}}, true));
    g.define(g.root(), g.rule(again));
    return g;
  };
  return {
      fmt::format("text with calls {} {} {} {}", several, format.begin, format.end, tools.dump()),
      "tools", make};
}

void prepare_calls(Json& message) {
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || calls->is_null()) return;
  const auto refuse = [] {
    throw ApiError(400, "tool_calls of a message must be a list of functions with a name.",
                   "messages");
  };
  if (!calls->is_array()) refuse();
  if (calls->empty()) {
    message.erase("tool_calls");
    return;
  }
  for (Json& call : *calls) {
    if (function_of(call) == nullptr) refuse();
    Json& arguments = call["function"]["arguments"];
    if (arguments.is_null()) arguments = Json::object();
    if (!arguments.is_string()) continue;
    const std::string text = arguments.get<std::string>();
    const Json parsed = text.empty() ? Json::object() : Json::parse(text, nullptr, false);
    if (parsed.is_object()) arguments = parsed;
  }
}

// ---- answers ------------------------------------------------------------------------------------

std::string CallReader::id() const { return fmt::format("{}{}", id_, count_); }

/// Tells what is there of a call that begins at `from`, once its name is.
void CallReader::tell_begun(std::size_t from, Part& out) {
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
bool CallReader::read_call(bool is_end, Part& out) {
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

CallReader::Part CallReader::add(std::string_view text, bool is_end) {
  Part out;
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
      if (read_call(is_end, out)) continue;
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
        held_ = std::string(seen.substr(kPython.size()));
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

}  // namespace strata::serve
