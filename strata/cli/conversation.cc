#include "strata/cli/conversation.h"

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "strata/base/check.h"
#include "strata/base/file.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kHelp =
    "/reset            forgets the conversation, but for what /system said\n"
    "/system TEXT      how the model is to behave; begins anew (without TEXT: shows it)\n"
    "/save FILE        writes the conversation as a line of JSON, as training reads it\n"
    "/undo             takes the last question and its answer back\n"
    "/again            draws another answer to the last question\n"
    "/help             this\n"
    "/exit             ends, as Ctrl-D does\n"
    "A line that ends in \\ goes on in the next one; so do lines between two lines of \"\"\".\n"
    "Ctrl-C ends the answer that is being written.\n";

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may use it");

/// While one lives, Ctrl-C is noted, and ends a read that waits.
class Interruptible {
 public:
  Interruptible() {
    interrupted = false;
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = true; };
    STRATA_CHECK(::sigaction(SIGINT, &action, &before_) == 0, "Ctrl-C cannot be caught");
  }
  ~Interruptible() { ::sigaction(SIGINT, &before_, nullptr); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction before_{};
};

/// The next line; false at the end. `broken`: Ctrl-C was pressed instead.
bool next_line(std::istream& in, std::string& line, bool& broken) {
  broken = false;
  if (std::getline(in, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }
  if (!interrupted.exchange(false)) return false;
  std::clearerr(stdin);
  in.clear();
  broken = true;
  return true;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Conversation::Conversation(Answerer answerer, ConversationOptions options)
    : answerer_(std::move(answerer)), options_(std::move(options)) {
  reset();
  if (!options_.messages.empty()) messages_ = options_.messages;
}

void Conversation::reset() {
  messages_.clear();
  if (!options_.system.empty()) messages_.push_back({"system", options_.system});
}

Conversation::Line Conversation::read(std::istream& in, std::ostream& err, std::string& text) {
  constexpr std::string_view kBlock = "\"\"\"";
  text.clear();
  bool is_block = false, goes_on = false;
  for (std::string line;;) {
    if (options_.prompts) err << (is_block || goes_on ? "... " : "> ") << std::flush;
    bool broken = false;
    if (!next_line(in, line, broken)) {
      if (options_.prompts) err << "\n";
      // What was begun and not closed is a message all the same; the end comes again.
      return trimmed(text).empty() ? Line::end : Line::message;
    }
    if (broken) {
      text.clear();
      is_block = goes_on = false;
      err << "\n(Ctrl-D or /exit ends)\n";
      continue;
    }
    if (!goes_on && trimmed(line) == kBlock) {
      if (is_block) return Line::message;
      is_block = true;
      continue;
    }
    if (is_block) {
      text += line + "\n";
      continue;
    }
    if (!goes_on && line.starts_with('/')) {
      text = line;
      return Line::command;
    }
    goes_on = line.ends_with('\\');
    if (goes_on) line.back() = '\n';
    text += line;
    if (goes_on) continue;
    if (!trimmed(text).empty()) return Line::message;
    text.clear();
  }
}

Status Conversation::run(std::istream& in, std::ostream& out, std::ostream& err) {
  const Interruptible interruptible;
  if (options_.prompts) err << "/help lists commands; Ctrl-D ends.\n";
  for (std::string text;;) {
    const Line line = read(in, err, text);
    if (line == Line::end) return Status();
    if (line == Line::command) {
      if (!command(text, out, err)) return Status();
    } else {
      messages_.push_back({"user", text});
      answer(out, err);
    }
    if (!out) return Status(Code::io, "the answer cannot be written");
  }
}

bool Conversation::command(const std::string& line, std::ostream& out, std::ostream& err) {
  const std::size_t space = line.find_first_of(" \t");
  const std::string name = line.substr(0, space);
  const std::string rest(space == std::string::npos
                             ? std::string_view()
                             : trimmed(std::string_view(line).substr(space)));
  const auto last_question = [&] {
    std::size_t i = messages_.size();
    while (i > 0 && messages_[i - 1].role != "user") --i;
    return i;  // one past it; 0 where there is none
  };
  if (name == "/exit" || name == "/quit") return false;
  if (name == "/help") {
    err << kHelp;
  } else if (name == "/reset") {
    reset();
    err << "(a new conversation)\n";
  } else if (name == "/system") {
    if (rest.empty()) {
      err << (options_.system.empty() ? "(none)" : options_.system) << "\n";
    } else {
      options_.system = rest;
      reset();
      err << "(a new conversation)\n";
    }
  } else if (name == "/save") {
    save(rest, err);
  } else if (name == "/undo" || name == "/again") {
    const std::size_t i = last_question();
    if (i == 0) {
      err << "(nothing was asked yet)\n";
    } else if (name == "/undo") {
      messages_.resize(i - 1);
      err << "(taken back)\n";
    } else {
      messages_.resize(i);
      answer(out, err);
    }
  } else {
    err << fmt::format("{}: no such command; /help lists them\n", name);
  }
  return true;
}

void Conversation::answer(std::ostream& out, std::ostream& err) {
  interrupted = false;
  bool stopped = false;
  const auto got = answerer_(messages_, [&](std::string_view piece) {
    out << piece << std::flush;
    stopped = stopped || interrupted;
    return out.good() && !interrupted;
  });
  interrupted = false;
  out << "\n" << std::flush;
  if (!got) {
    messages_.pop_back();
    err << "strata: " << got.status().message() << "\n";
    return;
  }
  messages_.push_back({"assistant", got->text});
  if (!options_.statistics) return;
  err << fmt::format("({}{} tokens, {:.1f} tokens/s; {} of the prompt in {:.2f} s)\n",
                     stopped ? "stopped; " : "", got->tokens,
                     got->seconds > 0 ? static_cast<double>(got->tokens) / got->seconds : 0.0,
                     got->prompt_tokens, got->prompt_seconds);
}

void Conversation::save(const std::string& path, std::ostream& err) const {
  if (path.empty()) {
    err << "/save needs the name of a file: /save talk.jsonl\n";
    return;
  }
  ordered_json messages = ordered_json::array();
  for (const Message& m : messages_) messages.push_back({{"role", m.role}, {"content", m.content}});
  const std::string line = ordered_json{{"messages", messages}}.dump(
                               -1, ' ', false, ordered_json::error_handler_t::replace) +
                           "\n";
  if (Status s = write_file_atomic(path, line); !s.ok())
    err << "strata: " << s.message() << "\n";
  else
    err << fmt::format("({} messages in {})\n", messages_.size(), path);
}

}  // namespace strata::cli
