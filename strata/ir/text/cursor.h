// Reads text by tokens, knows where it is, and never trusts what it reads: depth and sizes have
// limits.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "strata/base/result.h"

namespace strata::ir {

class TypeCache;  // text/type_text.h

/// Bounds on programs from outside.
struct TextLimits {
  int depth = 256;                                   // nested regions, attributes, types
  std::size_t literal_bytes = std::size_t{1} << 31;  // all constants of a module together
};

/// Thrown inside the reader alone; `parse` turns it into a Status.
struct SyntaxError {
  Code code;
  std::size_t offset;
  std::string message;
};

namespace internal {

enum CharClass : std::uint8_t { kDigit = 1, kLetter = 2, kWord = 4, kSpace = 8, kHex = 16 };
constexpr std::array<std::uint8_t, 256> char_classes() {
  std::array<std::uint8_t, 256> out{};
  for (int c = '0'; c <= '9'; ++c) out[static_cast<std::size_t>(c)] = kDigit | kWord | kHex;
  for (int c = 'a'; c <= 'z'; ++c)
    out[static_cast<std::size_t>(c)] = kLetter | kWord | (c <= 'f' ? kHex : 0);
  for (int c = 'A'; c <= 'Z'; ++c)
    out[static_cast<std::size_t>(c)] = kLetter | kWord | (c <= 'F' ? kHex : 0);
  out['_'] = kLetter | kWord;
  out['$'] = out['.'] = kWord;
  out[' '] = out['\n'] = out['\t'] = out['\r'] = kSpace;
  return out;
}
inline constexpr std::array<std::uint8_t, 256> kCharClasses = char_classes();
inline bool is_of(char c, CharClass which) {
  return (kCharClasses[static_cast<unsigned char>(c)] & which) != 0;
}

}  // namespace internal

/// A place in a text. White space and `//` comments before a token are skipped.
class Cursor {
 public:
  explicit Cursor(std::string_view text, TextLimits limits = {}) : limits_(limits), text_(text) {}

  std::size_t offset() {
    skip();
    return at_;
  }  // of the next token
  void seek(std::size_t offset) { at_ = offset; }
  std::string_view text() const { return text_; }
  bool at_end() {
    skip();
    return at_ >= text_.size();
  }
  /// The next token's first character; 0 at the end.
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// The very next character, white space included; 0 at the end.
  char next_char() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  /// Whether the text continues with these characters, without consuming them.
  bool looking_at(std::string_view token) {
    skip();
    if (text_.size() - at_ < token.size() || text_[at_] != token[0] ||
        text_.compare(at_, token.size(), token) != 0)
      return false;
    std::size_t end = at_ + token.size();
    return end >= text_.size() || !internal::is_of(text_[end], internal::kWord) ||
           !internal::is_of(token.back(), internal::kWord);
  }
  /// Consumes a token if it is next. A word is matched only as a whole word.
  bool consume(std::string_view token) {
    if (!looking_at(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!consume(token)) fail("expected '{}'", token);
  }
  /// [A-Za-z_][A-Za-z0-9_$.]*, or empty.
  std::string_view try_word();
  std::string_view word(std::string_view what);
  /// What may follow %, @, ^ or #: digits, or a word that may hold '-'.
  std::string_view suffix(std::string_view what);
  /// "..." with its escapes resolved.
  std::string string();
  /// What stands between the quotes of the string that is next, escapes as they are.
  std::string_view raw_string();
  /// A decimal integer with a sign; fails beyond 64 bits.
  std::int64_t integer();
  /// The characters of a number: [-]digits, a fraction, an exponent, or 0x....
  std::string_view number();
  /// After an opening bracket has been consumed: the text up to its partner, which is consumed too.
  /// Knows strings.
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
      if (++c_.depth_ > c_.limits_.depth) {
        --c_.depth_;
        c_.fail("nested more than {} levels deep", c_.limits_.depth);
      }
    }
    ~Nesting() { --c_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Cursor& c_;
  };
  /// Takes from the budget for constants, for the one that stands at `where`.
  void reserve(std::size_t bytes, std::size_t where);
  const TextLimits& limits() const { return limits_; }
  /// Types by their text, where the reader of a whole program keeps them; null otherwise.
  TypeCache* types() const { return types_; }
  void set_types(TypeCache* types) { types_ = types; }

 private:
  void skip() {
    while (at_ < text_.size() &&
           (internal::is_of(text_[at_], internal::kSpace) || text_[at_] == '/')) {
      if (text_[at_] != '/') {
        ++at_;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
        std::size_t end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end;
      } else {
        return;
      }
    }
  }
  TextLimits limits_;
  std::string_view text_;
  std::size_t at_ = 0, reserved_ = 0;
  int depth_ = 0;
  TypeCache* types_ = nullptr;
};

}  // namespace strata::ir
