#include "strata/ir/text/cursor.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace strata::ir {
namespace {

using internal::is_of;
bool is_digit(char c) { return is_of(c, internal::kDigit); }
bool is_letter(char c) { return is_of(c, internal::kLetter); }
bool is_word(char c) { return is_of(c, internal::kWord); }
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view Cursor::try_word() {
  skip();
  std::size_t start = at_;
  if (at_ < text_.size() && is_letter(text_[at_]))
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

std::string_view Cursor::word(std::string_view what) {
  std::string_view w = try_word();
  if (w.empty()) fail("expected {}", what);
  return w;
}

std::string_view Cursor::suffix(std::string_view what) {
  std::size_t start = at_;  // no white space between the sigil and the name
  if (at_ < text_.size() && is_digit(text_[at_])) {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  } else {
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-')) ++at_;
  }
  if (at_ == start) fail("expected {}", what);
  return text_.substr(start, at_ - start);
}

std::string Cursor::string() {
  std::size_t start = offset();
  expect("\"");
  std::string out;
  while (at_ < text_.size()) {
    char c = text_[at_++];
    if (c == '"') return out;
    if (c == '\n') break;
    if (c != '\\') {
      out += c;
      continue;
    }
    char e = at_ < text_.size() ? text_[at_++] : '\0';
    if (e == 'n')
      out += '\n';
    else if (e == 't')
      out += '\t';
    else if (e == '"' || e == '\\')
      out += e;
    else if (int high = hex_digit(e), low = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
             high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      ++at_;
    } else
      fail("unknown escape in a string");
  }
  fail_at(start, "string without an end");
}

std::string_view Cursor::raw_string() {
  expect("\"");
  std::size_t start = at_;
  auto find = [&](char c, std::size_t end) {  // from at_ on; `end` when there is none
    const void* found = end == at_ ? nullptr : std::memchr(text_.data() + at_, c, end - at_);
    return found == nullptr
               ? end
               : static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
  };
  std::size_t quote = 0, line = 0;
  for (bool known = false;;) {
    if (!known) {
      quote = find('"', text_.size());
      line = find('\n', quote);
    }
    std::size_t escape = find('\\', line);
    if (escape < line) {
      at_ = std::min(escape + 2, text_.size());  // what follows a backslash
      if (at_ == text_.size() || at_ > line) break;
      known = at_ <= quote;
    } else if (line < quote || quote == text_.size()) {
      at_ = line;
      break;
    } else {
      at_ = quote + 1;
      return text_.substr(start, quote - start);
    }
  }
  fail_at(start - 1, "string without an end");
}

std::string_view Cursor::number() {
  skip();
  std::size_t start = at_;
  auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
  if (text_.substr(at_, 2) == "0x") {
    std::size_t digits_at = at_ += 2;
    while (at_ < text_.size() && hex_digit(text_[at_]) >= 0) ++at_;
    if (at_ == digits_at) --at_;  // "0x4": a dimension list, not ours
    return text_.substr(start, at_ - start);
  }
  std::size_t first = at_;
  digits();
  if (at_ == first) {
    at_ = start;
    fail("expected a number");
  }
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    digits();
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    std::size_t exponent = at_++;
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
    std::size_t digits_at = at_;
    digits();
    if (at_ == digits_at) at_ = exponent;
  }
  return text_.substr(start, at_ - start);
}

std::int64_t Cursor::integer() {
  skip();
  std::size_t start = at_, end = at_;
  if (end < text_.size() && text_[end] == '-') ++end;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  std::int64_t value = 0;
  auto [stop, error] = std::from_chars(text_.data() + start, text_.data() + end, value);
  if (error == std::errc::result_out_of_range)
    fail("integer '{}' does not fit 64 bits",
         text_.substr(start, std::min<std::size_t>(end - start, 40)));
  if (error != std::errc() || stop == text_.data() + start) fail("expected an integer");
  at_ = end;
  return value;
}

std::string_view Cursor::balanced(char open, char close) {
  std::size_t start = at_;
  int level = 1;
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '"') {
      raw_string();
      continue;
    }
    ++at_;
    if (c == '-' && at_ < text_.size() && text_[at_] == '>')
      ++at_;  // an arrow closes nothing
    else if (c == open)
      ++level;
    else if (c == close && --level == 0)
      return text_.substr(start, at_ - 1 - start);
  }
  at_ = start;
  fail("'{}' without its '{}'", open, close);
}

void Cursor::skip_location() {
  if (!looking_at("loc")) return;
  std::size_t start = at_;
  consume("loc");
  if (!consume("(")) {
    at_ = start;
    return;
  }
  balanced('(', ')');
}

void Cursor::reserve(std::size_t bytes, std::size_t where) {
  if (bytes > limits_.literal_bytes || reserved_ > limits_.literal_bytes - bytes)
    fail_at(where, fmt::format("constants of more than {} bytes", limits_.literal_bytes),
            Code::unsupported);
  reserved_ += bytes;
}

}  // namespace strata::ir
