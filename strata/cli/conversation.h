// A conversation in a terminal, whatever model answers.
//
//   Conversation talk(answer, {.system = "Be brief."});
//   return talk.run(std::cin, std::cout, std::cerr);
//
// A line is a message; a line that ends in a backslash goes on in the next one, and so do lines
// between two lines of """. Lines that begin with a slash are commands, /help lists them. The first
// Ctrl-C ends the answer that is being drawn; what has been said of it stays in the conversation.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::cli {

/// What somebody said: `role` is "system", "user" or "assistant".
struct Message {
  std::string role, content;
};

/// An answer, and what it took.
struct Answer {
  std::string text;
  std::int64_t tokens = 0, prompt_tokens = 0;
  /// Reading what is new of the conversation, and drawing.
  double prompt_seconds = 0, seconds = 0;
};

/// Draws the answer to a conversation whose last message is the user's. Hands each piece of text
/// on; where that returns false, ends there with what it has.
using Answerer = std::function<Result<Answer>(const std::vector<Message>& messages,
                                              const std::function<bool(std::string_view)>& piece)>;

struct ConversationOptions {
  /// The first message, as of role "system"; none where empty.
  std::string system;
  /// Whether a prompt is printed before what the user writes: for terminals.
  bool prompts = true;
  /// What was said before; the conversation goes on behind it.
  std::vector<Message> messages = {};
  /// Tokens per second after each answer, on the second stream.
  bool statistics = true;
};

class Conversation {
 public:
  Conversation(Answerer answerer, ConversationOptions options);
  /// Until `in` ends or /exit. Answers go to `out`; prompts, statistics, what commands say and
  /// mistakes to `err`. Fails where `out` takes no more; a failed answer is told, and the
  /// conversation goes on.
  Status run(std::istream& in, std::ostream& out, std::ostream& err);

  const std::vector<Message>& messages() const { return messages_; }

 private:
  enum class Line { message, command, end };
  Line read(std::istream& in, std::ostream& err, std::string& text);
  /// False where the conversation ends.
  bool command(const std::string& line, std::ostream& out, std::ostream& err);
  void answer(std::ostream& out, std::ostream& err);
  void reset();
  void save(const std::string& path, std::ostream& err) const;

  Answerer answerer_;
  ConversationOptions options_;
  std::vector<Message> messages_;
};

}  // namespace strata::cli
