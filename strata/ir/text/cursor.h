// Reads text by tokens, knows where it is, and never trusts what it reads: depth and sizes have limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "strata/base/result.h"

namespace strata::ir {

/// Bounds on programs from outside.
struct TextLimits {
  int depth = 256;                              // nested regions, attributes, types
  std::size_t literal_bytes = std::size_t{1} << 31;  // all constants of a module together
};

/// Thrown inside the reader alone; `parse` turns it into a Status.
struct SyntaxError {
  Code code;
  std::size_t offset;
  std::string message;
};

/// A place in a text. White space and `//` comments before a token are skipped.
class Cursor {
 public:
  explicit Cursor(std::string_view text, TextLimits limits = {}) : limits_(limits), text_(text) {}

  std::size_t offset();  // of the next token
  void seek(std::size_t offset) { at_ = offset; }
  std::string_view text() const { return text_; }
  bool at_end();
  /// The next token's first character; 0 at the end.
  char peek();
  /// Whether the text continues with these characters, without consuming them.
  bool looking_at(std::string_view token);
  /// Consumes a token if it is next. A word is matched only as a whole word.
  bool consume(std::string_view token);
  void expect(std::string_view token);
  /// [A-Za-z_][A-Za-z0-9_$.]*, or empty.
  std::string_view try_word();
  std::string_view word(std::string_view what);
  /// What may follow %, @, ^ or #: digits, or a word that may hold '-'.
  std::string_view suffix(std::string_view what);
  /// "..." with its escapes resolved.
  std::string string();
  /// A decimal integer with a sign; fails beyond 64 bits.
  std::int64_t integer();
  /// The characters of a number: [-]digits, a fraction, an exponent, or 0x....
  std::string_view number();
  /// After an opening bracket has been consumed: the text up to its partner, which is consumed too. Knows strings.
  std::string_view balanced(char open, char close);
  /// Skips `loc(...)` if it is next.
  void skip_location();

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
    throw SyntaxError{Code::invalid, offset(), fmt::format(format, std::forward<Args>(args)...)};
  }
  [[noreturn]] void fail_at(std::size_t offset, std::string message, Code code = Code::invalid) {
    throw SyntaxError{code, offset, std::move(message)};
  }

  /// Counts nesting while it lives.
  class Nesting {
   public:
    explicit Nesting(Cursor& c) : c_(c) {
      if (++c_.depth_ > c_.limits_.depth) c_.fail("nested more than {} levels deep", c_.limits_.depth);
    }
    ~Nesting() { --c_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Cursor& c_;
  };
  /// Takes from the budget for constants.
  void reserve(std::size_t bytes);
  const TextLimits& limits() const { return limits_; }

 private:
  void skip();
  TextLimits limits_;
  std::string_view text_;
  std::size_t at_ = 0, reserved_ = 0;
  int depth_ = 0;
};

}  // namespace strata::ir
