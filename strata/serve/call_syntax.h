// How a call stands in a text: one class for each syntax, which takes calls out piece by piece.
//
// Each reads every character a bounded number of times, however the text is cut into pieces, and
// gives the same whatever the pieces are.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strata/serve/calls.h"

namespace strata::serve {

class CallSyntax {
 public:
  using Part = CallPart;
  CallSyntax(CallFormat format, ToolChoice choice, std::string id);
  virtual ~CallSyntax() = default;
  CallSyntax(const CallSyntax&) = delete;
  CallSyntax& operator=(const CallSyntax&) = delete;
  virtual void add(std::string_view text, bool is_end, Part& out) = 0;
  std::size_t calls() const { return count_; }

 protected:
  bool knows(std::string_view name) const;
  std::string id() const;
  /// Tells a whole call.
  void tell(std::string name, std::string arguments, Part& out);

  CallFormat format_;
  ToolChoice choice_;
  std::size_t count_ = 0;

 private:
  std::string id_;
};

std::unique_ptr<CallSyntax> json_syntax(CallFormat format, ToolChoice choice, std::string id);
std::unique_ptr<CallSyntax> tagged_syntax(CallFormat format, ToolChoice choice, std::string id);
std::unique_ptr<CallSyntax> pythonic_syntax(CallFormat format, ToolChoice choice, std::string id);

/// Finds a mark in a text that comes in pieces, and gives on what stands before it, without spaces
/// right before the mark. Holds back no more than spaces and the beginning of a mark.
class MarkFinder {
 public:
  /// `mark` begins with no space.
  explicit MarkFinder(std::string mark) : mark_(std::move(mark)) {}
  /// Whether the mark has come; `rest` is what stands behind it.
  bool add(std::string_view text, bool is_end, std::string& before, std::string& rest);

 private:
  std::string mark_, spaces_, held_;
};

/// The end of a JSON object or array, in a text that comes in pieces.
class ObjectEnd {
 public:
  /// Reads on; how many of the characters belong to it. `whole` then says whether it ended.
  std::size_t add(std::string_view text);
  bool whole() const { return whole_; }

 private:
  std::size_t depth_ = 0;
  bool in_string_ = false, escaped_ = false, whole_ = false;
};

bool is_space(char c);
std::string_view trimmed(std::string_view s);
/// Behind the JSON value that begins at `at`; none where it is not whole, or none.
std::optional<std::size_t> behind_value(std::string_view text, std::size_t at);

/// A literal of Python (None, True, numbers, strings, lists, tuples, dicts with string keys) as
/// JSON; none where it is no such literal, or deeper than 64.
std::optional<std::string> python_as_json(std::string_view literal);
/// A tagged argument as JSON: text where the schema wants text or says nothing and it is no other
/// value, else the value it writes, of JSON or of Python. Source: vLLM's Qwen3-Coder parser.
std::string typed_argument(std::string_view value, const Json& schema);

}  // namespace strata::serve
