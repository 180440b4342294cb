#include "strata/mesh/cursor.h"

#include <limits>

namespace strata::mesh {
namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
         c == '.' || c == '$';
}
}  // namespace

void Cursor::skip() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}
bool Cursor::next_is(std::string_view word) {
  skip();
  return ok() && text_.substr(at_, word.size()) == word;
}
bool Cursor::consume(std::string_view word) {
  if (!next_is(word)) return false;
  at_ += word.size();
  return true;
}
bool Cursor::expect(std::string_view word) {
  if (consume(word)) return true;
  fail(fmt::format("expected '{}'", word));
  return false;
}
bool Cursor::at_end() {
  skip();
  return at_ == text_.size();
}
std::string Cursor::quoted() {
  std::string out;
  if (!expect("\"")) return out;
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    out += text_[at_];
  }
  if (at_ == text_.size()) return fail("a name in quotes does not end"), "";
  ++at_;
  return out;
}
std::int64_t Cursor::number() {
  skip();
  if (!ok()) return 0;
  if (at_ == text_.size() || !is_digit(text_[at_])) return fail("expected a number"), 0;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t out = 0;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    int digit = text_[at_] - '0';
    if (out > (most - digit) / 10) return fail("a number beyond 64 bits"), 0;
    out = out * 10 + digit;
  }
  return out;
}
std::string Cursor::word() {
  skip();
  std::size_t begin = at_;
  while (ok() && at_ < text_.size() && in_word(text_[at_])) ++at_;
  if (at_ == begin) fail("expected a name");
  return std::string(text_.substr(begin, at_ - begin));
}
void Cursor::fail(const std::string& message) {
  if (!failure_) failure_ = fmt::format("{} at character {} of '{}'", message, at_ + 1, text_);
}
Status Cursor::status() const {
  return failure_ ? Status(Code::invalid, "{}", *failure_) : Status();
}

std::string quote(std::string_view name) {
  std::string out = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace strata::mesh
