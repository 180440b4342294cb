#include "strata/data/conversations.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/tokenizer/utf8.h"

namespace strata::data {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* kMessages = "messages";
constexpr const char* kPrompt = "prompt";
constexpr const char* kCompletion = "completion";
constexpr int kDeepest = 64;

/// Whether brackets outside of strings nest deeper than kDeepest: the parser would follow them on
/// the stack.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > kDeepest) return true;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

Status check_message(const json& message, const std::string& where, std::size_t number) {
  const auto wrong = [&](const std::string& what) {
    return Status(Code::invalid, "{}: message {}: {}", where, number + 1, what);
  };
  if (!message.is_object()) return wrong("no JSON object");
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string() || role->get<std::string>().empty())
    return wrong("no text under \"role\" (user, assistant, system, ...)");
  const auto content = message.find("content");
  if (content == message.end() || content->is_null()) {
    if (message.contains("tool_calls")) return {};
    return wrong("no text under \"content\"");
  }
  if (content->is_array())
    return wrong("\"content\" is a list of parts, as images have; a text is needed");
  if (!content->is_string()) return wrong("no text under \"content\"");
  return {};
}

/// A list of messages as text.
Result<std::string> messages_of(const json& list, const std::string& where, const char* key) {
  if (!list.is_array() || list.empty())
    return Status(Code::invalid,
                  "{}: no list of messages under \"{}\": [{{\"role\": \"user\", \"content\": "
                  "\"...\"}}, ...] is needed",
                  where, key);
  if (list.size() > kMostMessages)
    return Status(Code::invalid, "{}: {} messages; at most {} are read", where, list.size(),
                  kMostMessages);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (Status s = check_message(list[i], where, i); !s.ok()) return s;
  return list.dump();
}

bool has_assistant(const json& messages) {
  return std::any_of(messages.begin(), messages.end(),
                     [](const json& m) { return m["role"] == "assistant"; });
}

Status read_messages(const json& line, Conversation& out) {
  const auto list = line.find(kMessages);
  if (list == line.end())
    return Status(Code::invalid,
                  "{}: there is no \"messages\" (train_data_columns=prompt,completion reads those)",
                  out.where);
  auto text = messages_of(*list, out.where, kMessages);
  if (!text) return text.status();
  if (!has_assistant(*list))
    return Status(Code::invalid,
                  "{}: no message has the role assistant: there is no answer to learn", out.where);
  out.messages = std::move(*text);
  return {};
}

Status read_pair(const json& line, Conversation& out) {
  const auto prompt = line.find(kPrompt), completion = line.find(kCompletion);
  if (prompt == line.end() || completion == line.end())
    return Status(Code::invalid, "{}: there is no \"{}\" (train_data_columns=prompt,completion)",
                  out.where, prompt == line.end() ? kPrompt : kCompletion);
  if (prompt->is_string() && completion->is_string()) {
    out.prompt = prompt->get<std::string>();
    out.completion = completion->get<std::string>();
    if (out.completion.empty())
      return Status(Code::invalid, "{}: \"completion\" is empty", out.where);
    return {};
  }
  if (prompt->is_string() || completion->is_string())
    return Status(Code::invalid,
                  "{}: \"prompt\" and \"completion\" are a text and a list; both must be texts, or "
                  "both lists of messages",
                  out.where);
  if (auto text = messages_of(*prompt, out.where, kPrompt); !text) return text.status();
  if (auto text = messages_of(*completion, out.where, kCompletion); !text) return text.status();
  json all = *prompt;
  all.insert(all.end(), completion->begin(), completion->end());
  auto text = messages_of(all, out.where, kPrompt);
  if (!text) return text.status();
  out.messages = std::move(*text);
  out.prompt_messages = prompt->size();
  return {};
}

}  // namespace

bool names_conversations(const std::string& columns) {
  return columns == kMessages || columns == "prompt,completion";
}

Result<json> conversation_line(std::string_view text, const std::string& where) {
  if (text.size() > kMostLineBytes)
    return Status(Code::invalid, "{}: a line of {} bytes; at most {} are read", where, text.size(),
                  kMostLineBytes);
  if (const std::size_t at = tokenizer::first_invalid(text); at != std::string::npos)
    return Status(Code::invalid, "{}: not UTF-8: byte {} of the line is 0x{:02x}", where, at,
                  static_cast<unsigned char>(text[at]));
  if (too_deep(text))
    return Status(Code::invalid, "{}: JSON that nests deeper than {}", where, kDeepest);
  json line;
  try {
    line = json::parse(text);
  } catch (const json::exception& e) {
    const std::string what = e.what();
    return Status(Code::invalid, "{}: no JSON: {}", where, what.substr(what.find("] ") + 2));
  }
  if (!line.is_object()) return Status(Code::invalid, "{}: no JSON object", where);
  return line;
}

Result<Conversation> conversation_of(std::string_view text, std::string where,
                                     const std::string& columns) {
  auto line = conversation_line(text, where);
  if (!line) return line.status();
  Conversation out;
  out.where = std::move(where);
  Status read = columns == kMessages ? read_messages(*line, out) : read_pair(*line, out);
  if (!read.ok()) return read;
  if (const auto tools = line->find("tools"); tools != line->end() && !tools->is_null()) {
    if (!tools->is_array()) return Status(Code::invalid, "{}: \"tools\" is no list", out.where);
    out.tools = tools->dump();
  }
  return out;
}

Status each_conversation_line(
    std::string_view bytes, const std::string& path,
    const std::function<Status(std::string_view line, const std::string& where)>& f) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);  // a byte order mark is no text
  for (std::size_t number = 1; !bytes.empty(); ++number) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (Status s = f(line, fmt::format("{}:{}", path, number)); !s.ok()) return s;
  }
  return {};
}

Result<std::vector<Conversation>> conversations_of(std::string_view bytes, const std::string& path,
                                                   const std::string& columns) {
  std::vector<Conversation> out;
  const Status s = each_conversation_line(
      bytes, path, [&](std::string_view line, const std::string& where) -> Status {
        auto one = conversation_of(line, where, columns);
        if (one) out.push_back(std::move(*one));
        return one.status();
      });
  if (!s.ok()) return s;
  return out;
}

Result<std::vector<Conversation>> read_conversations(const std::string& path,
                                                     const std::string& columns) {
  if (!path.ends_with(".jsonl"))
    return Status(Code::invalid,
                  "{}: train_data_columns={} reads files of JSON lines, whose names end in .jsonl",
                  path, columns);
  auto bytes = read_file(path);
  if (!bytes) return bytes.status();
  return conversations_of(*bytes, path, columns);
}

}  // namespace strata::data
