// Conversations to learn from, a JSON object on each line of a .jsonl file:
//
//   {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
//   {"prompt": [{"role": "user", "content": "Hi"}], "completion": [{"role": "assistant", ...}]}
//   {"prompt": "The sky is", "completion": " blue."}              // texts, without a template
//
//   auto all = data::read_conversations("chats.jsonl", "messages");
//
// As TRL has them: "Dataset formats and types", conversational and standard.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::data {

struct Conversation {
  /// A JSON list of messages, each an object with `role` and `content`; empty for texts.
  std::string messages;
  /// How many messages at the front are the prompt; none: the assistant's are answers.
  std::optional<std::size_t> prompt_messages;
  /// Without messages: a text and how it goes on.
  std::string prompt, completion;
  /// A JSON list for the template's `tools`; empty for none.
  std::string tools;
  /// "chats.jsonl:12", for messages.
  std::string where;
};

/// The most bytes of a line and messages of a conversation that are read.
inline constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMostMessages = 1000;

/// Whether `columns` names conversations: "messages" or "prompt,completion".
bool names_conversations(const std::string& columns);

/// A line as a JSON object. Code::invalid, with `where` in front, for what is none, not UTF-8 or
/// beyond the limits.
Result<nlohmann::ordered_json> conversation_line(std::string_view text, const std::string& where);
/// The conversation of one line.
Result<Conversation> conversation_of(std::string_view text, std::string where,
                                     const std::string& columns);
/// Calls `f` with each line that is not blank and where it stands, until it fails.
Status each_conversation_line(
    std::string_view bytes, const std::string& path,
    const std::function<Status(std::string_view line, const std::string& where)>& f);

/// Each line of a file's bytes; blank ones are passed over. Code::invalid names the file, the line
/// and what is wrong with the first that is no such object, holds no answer, or is beyond the
/// limits.
Result<std::vector<Conversation>> conversations_of(std::string_view bytes, const std::string& path,
                                                   const std::string& columns);
/// Reads a file whose name ends in .jsonl as `conversations_of` reads its bytes.
Result<std::vector<Conversation>> read_conversations(const std::string& path,
                                                     const std::string& columns);

}  // namespace strata::data
