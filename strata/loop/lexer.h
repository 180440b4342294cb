// Words, numbers and signs of the text form. For the parser alone.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace strata::loop::internal {

/// What is wrong with the text; thrown within the parser only.
struct Mistake {
  std::string message;
};

inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Words, numbers and signs of the text, one ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { next(); }

  /// The token ahead; empty at the end. A word or number, a name with its % or @, or one sign.
  std::string_view peek() const { return token_; }
  std::string_view take() {
    std::string_view taken = token_;
    next();
    return taken;
  }
  bool take_if(std::string_view wanted) {
    if (token_ != wanted) return false;
    next();
    return true;
  }
  void expect(std::string_view wanted) {
    if (!take_if(wanted)) fail(fmt::format("'{}'", wanted));
  }
  [[noreturn]] void fail(std::string_view wanted) const {
    std::string found = token_.empty() ? "the end" : fmt::format("'{}'", token_.substr(0, 40));
    throw Mistake{fmt::format("line {}: expected {}, found {}", line_, wanted, found)};
  }

 private:
  void skip_blank() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '/' && text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }
  void next() {
    skip_blank();
    std::size_t start = at_;
    if (at_ < text_.size()) {
      bool named = text_[at_] == '%' || text_[at_] == '@';
      bool number = is_digit(text_[at_]);
      if (named || !is_word(text_[at_])) ++at_;
      if (named || is_word(text_[start]))
        while (at_ < text_.size() && (is_word(text_[at_]) || (number && is_exponent_sign()))) ++at_;
    }
    token_ = text_.substr(start, at_ - start);
  }
  /// The sign in 1e-5, but not the one in 0x1e-5.
  bool is_exponent_sign() const {
    char c = text_[at_], before = text_[at_ - 1];
    return (c == '-' || c == '+') && before == 'e' && token_start_is_decimal();
  }
  bool token_start_is_decimal() const {
    std::size_t i = at_ - 1;
    while (i > 0 && (is_digit(text_[i - 1]) || text_[i - 1] == '.')) --i;
    return i == 0 || !is_word(text_[i - 1]);
  }

  std::string_view text_, token_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace strata::loop::internal
