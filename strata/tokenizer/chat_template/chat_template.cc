#include "strata/tokenizer/chat_template/chat_template.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "strata/tokenizer/chat_template/evaluator.h"
#include "strata/tokenizer/chat_template/python_text.h"
#include "strata/tokenizer/chat_template/syntax.h"

namespace strata::tokenizer {
namespace {

using jinja::Dict;
using jinja::Text;
using jinja::Value;
using nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::string_view kTag = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr const char* kReasoning[] = {"reasoning_content", "thinking", "reasoning"};

std::vector<Span> marked(const Text& text) {
  std::vector<Span> out;
  for (std::size_t i = 0; i < text.marks.size(); ++i) {
    if (!text.mark(i)) continue;
    if (!out.empty() && out.back().end == i)
      ++out.back().end;
    else
      out.push_back({i, i + 1});
  }
  return out;
}

/// As upstream prepares messages before a template sees them.
ordered_json prepared(const ordered_json& messages) {
  ordered_json out = ordered_json::array();
  for (const ordered_json& message : messages) {
    ordered_json m = ordered_json::object();
    for (const auto& [key, v] : message.items())
      if (!v.is_null()) m[key] = v;
    for (const char* name : kReasoning)
      if (m.contains(name)) {
        const ordered_json reasoning = m[name];
        ordered_json with = ordered_json::object();
        with["thinking"] = reasoning;
        for (const auto& [key, v] : m.items()) with[key] = v;
        with["reasoning_content"] = reasoning;
        m = std::move(with);
        break;
      }
    out.push_back(std::move(m));
  }
  return out;
}

void cut(RenderedChat& chat, std::size_t end) {
  chat.text.resize(end);
  for (auto* spans : {&chat.input, &chat.generation}) {
    while (!spans->empty() && spans->back().begin >= end) spans->pop_back();
    if (!spans->empty()) spans->back().end = std::min(spans->back().end, end);
  }
}

}  // namespace

struct ChatTemplate::Parsed {
  jinja::Body body;

  Result<RenderedChat> run(const Dict& names, std::tm now) const {
    try {
      jinja::Evaluator evaluator(jinja::Limits(), now);
      const Text text = evaluator.render(body, names);
      RenderedChat out{text.bytes, marked(text), {}};
      for (const auto& [begin, end] : evaluator.generation())
        out.generation.push_back({begin, end});
      return out;
    } catch (const jinja::TemplateError& e) {
      return Status(Code::invalid, "chat template, line {}: {}", e.line, e.message);
    }
  }
};

Result<ChatTemplate> ChatTemplate::parse(std::string_view text) {
  if (text.size() > kMostBytes)
    return Status(Code::invalid, "chat template: {} bytes, more than {}", text.size(), kMostBytes);
  try {
    ChatTemplate out;
    out.parsed_ = std::make_shared<const Parsed>(Parsed{jinja::parse(text)});
    return out;
  } catch (const jinja::TemplateError& e) {
    return Status(Code::invalid, "chat template, line {}: {}", e.line, e.message);
  }
}

Result<RenderedChat> ChatTemplate::render(const ordered_json& names, std::tm now) const {
  Dict d;
  try {
    for (const auto& [key, v] : names.items()) d.set(Text(key), Value::from_json(v, true));
  } catch (const jinja::TemplateError& e) {
    return Status(Code::invalid, "chat template: {}", e.message);
  }
  return parsed_->run(d, now);
}

Result<RenderedChat> ChatTemplate::apply(const ordered_json& messages,
                                         const ChatOptions& options) const {
  return apply(messages, options, ordered_json::object());
}

Result<RenderedChat> ChatTemplate::apply(const ordered_json& messages, const ChatOptions& options,
                                         const ordered_json& more) const {
  if (!messages.is_array()) return Status(Code::invalid, "chat: messages are no list");
  for (const ordered_json& m : messages)
    if (!m.is_object()) return Status(Code::invalid, "chat: a message is no mapping: {}", m.dump());
  ordered_json chat = prepared(messages);
  std::string last;
  if (options.continue_final_message) {
    if (chat.empty()) return Status(Code::invalid, "chat: there is no message to continue");
    ordered_json& message = chat.back();
    if (!message.contains("content"))
      return Status(Code::invalid, "chat: the last message has no content to continue");
    ordered_json* text = &message["content"];
    if (text->is_array()) {
      ordered_json* found = nullptr;
      for (ordered_json& block : *text)
        if (block.is_object() && block.contains("text")) found = &block["text"];
      text = found;
    }
    if (text == nullptr || !text->is_string())
      return Status(Code::invalid, "chat: the last message has no text to continue");
    last = text->get<std::string>();
    *text = last + std::string(kTag);
  }
  Dict names;
  try {
    names.set(Text("messages"), Value::from_json(chat, true));
    names.set(Text("tools"), jinja::None());
    names.set(Text("documents"), jinja::None());
    names.set(Text("add_generation_prompt"), Value(options.add_generation_prompt));
    for (const auto& [name, token] : options.special_tokens)
      names.set(Text(name), Value(Text(token)));
    for (const auto& [key, v] : more.items()) names.set(Text(key), Value::from_json(v, true));
  } catch (const jinja::TemplateError& e) {
    return Status(Code::invalid, "chat template: {}", e.message);
  }
  auto out = parsed_->run(names, options.now);
  if (!out || !options.continue_final_message) return out;
  const std::string tag(kTag.substr(0, kTag.size() - 1));
  const std::size_t at = out->text.rfind(tag);
  const std::string wanted = jinja::python::strip(Text(last), std::nullopt, true, true).bytes;
  if (at == std::string::npos || out->text.find(wanted) == std::string::npos)
    return Status(Code::invalid,
                  "chat: the template does not write the last message as it is, so that it cannot "
                  "be continued");
  std::size_t end = at;
  if (out->text.compare(at, kTag.size(), kTag) != 0)
    end = jinja::python::strip(Text(out->text.substr(0, at)), std::nullopt, false, true).size();
  cut(*out, end);
  return out;
}

}  // namespace strata::tokenizer
