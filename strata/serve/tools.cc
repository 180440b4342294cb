#include "strata/serve/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "strata/base/error.h"
#include "strata/engine/grammar/free_text.h"
#include "strata/engine/grammar/json_schema.h"
#include "strata/serve/call_syntax.h"

namespace strata::serve {
namespace {

using engine::grammar::Grammar;

constexpr std::size_t kMostTools = 128;

const Json* function_of(const Json& tool) {
  if (!tool.is_object() || tool.value("type", Json("function")) != "function") return nullptr;
  const auto found = tool.find("function");
  if (found == tool.end() || !found->is_object() || !found->value("name", Json()).is_string())
    return nullptr;
  return &*found;
}

}  // namespace

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
    if (const auto parameters = function->find("parameters"); parameters != function->end())
      out.parameters[name] = *parameters;
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

}  // namespace strata::serve
