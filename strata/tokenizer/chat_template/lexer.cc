#include "strata/tokenizer/chat_template/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "strata/tokenizer/chat_template/python_text.h"

namespace strata::tokenizer::jinja {
namespace {

using Kind = Token::Kind;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "\r\n" and "\r" as "\n", without the last newline.
std::string normalised(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
      continue;
    }
    out += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : s_(normalised(text)) {}

  std::vector<Token> run() {
    while (at_ < s_.size()) outside();
    add(Kind::end, "");
    return std::move(tokens_);
  }

 private:
  bool sees(std::string_view what) const { return s_.compare(at_, what.size(), what) == 0; }
  void add(Kind kind, std::string text) {
    if (kind == Kind::data && text.empty()) return;
    tokens_.push_back({kind, std::move(text), line_});
  }
  void skip_to(std::size_t end) {
    line_ += static_cast<int>(std::count(s_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         s_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    if (end > at_) starts_line_ = s_[end - 1] == '\n';
    at_ = end;
  }
  [[noreturn]] void error(std::string message) const {
    throw TemplateError{std::move(message), line_};
  }

  /// Text up to the next tag as data, and the tag's beginning.
  void outside() {
    std::size_t tag = at_;
    while (tag = s_.find('{', tag), tag != std::string::npos && tag + 1 < s_.size() &&
                                        s_[tag + 1] != '{' && s_[tag + 1] != '%' &&
                                        s_[tag + 1] != '#')
      ++tag;
    if (tag == std::string::npos || tag + 1 >= s_.size()) {
      add(Kind::data, s_.substr(at_));
      return skip_to(s_.size());
    }
    const char kind = s_[tag + 1];
    const char sign = tag + 2 < s_.size() ? s_[tag + 2] : ' ';
    add(Kind::data, stripped(s_.substr(at_, tag - at_), kind, sign));
    skip_to(tag);
    const std::size_t after = tag + (sign == '-' || sign == '+' ? 3 : 2);
    if (kind == '#') return comment(after);
    if (kind == '%' && raw(after)) return;
    add(kind == '{' ? Kind::variable_begin : Kind::block_begin, "");
    skip_to(after);
    starts_line_ = false;
    inside(kind);
  }
  std::string stripped(std::string text, char kind, char sign) const {
    if (sign == '-') {
      while (!text.empty() && is_space(text.back())) text.pop_back();
    } else if (sign != '+' && kind != '{') {
      const std::size_t line = text.rfind('\n') + 1;  // 0 where there is none
      if ((line > 0 || starts_line_) &&
          std::all_of(text.begin() + static_cast<std::ptrdiff_t>(line), text.end(), is_space))
        text.resize(line);
    }
    return text;
  }
  /// Past the end of a tag that stands at `end`: its white space too.
  void leave(std::size_t end, char sign, bool is_block) {
    skip_to(end);
    std::size_t next = end;
    if (sign == '-')
      while (next < s_.size() && is_space(s_[next])) ++next;
    else if (is_block && sign != '+' && next < s_.size() && s_[next] == '\n')
      ++next;
    skip_to(next);
    if (next == end) starts_line_ = false;
  }
  void comment(std::size_t from) {
    const std::size_t end = s_.find("#}", from);
    if (end == std::string::npos) error("a comment does not end");
    const char sign =
        end > at_ + 2 && (s_[end - 1] == '-' || s_[end - 1] == '+') ? s_[end - 1] : ' ';
    leave(end + 2, sign, true);
  }
  /// The whole of {% raw %} ... {% endraw %}, if one begins here.
  bool raw(std::size_t from) {
    const auto word = [&](std::size_t& i, std::string_view name) {
      while (i < s_.size() && is_space(s_[i])) ++i;
      if (s_.compare(i, name.size(), name) != 0) return false;
      i += name.size();
      while (i < s_.size() && is_space(s_[i])) ++i;
      return true;
    };
    const auto close = [&](std::size_t& i, char& sign) {
      sign = ' ';
      if (i < s_.size() && (s_[i] == '-' || s_[i] == '+')) sign = s_[i++];
      if (s_.compare(i, 2, "%}") != 0) return false;
      i += 2;
      return true;
    };
    std::size_t i = from;
    char sign = ' ';
    if (!word(i, "raw") || !close(i, sign)) return false;
    leave(i, sign, true);
    for (std::size_t tag = s_.find("{%", at_); tag != std::string::npos;
         tag = s_.find("{%", tag + 2)) {
      std::size_t j = tag + 2;
      const char first = j < s_.size() ? s_[j] : ' ';
      if (first == '-' || first == '+') ++j;
      char last = ' ';
      if (!word(j, "endraw") || !close(j, last)) continue;
      add(Kind::data, stripped(s_.substr(at_, tag - at_), '%', first));
      leave(j, last, true);
      return true;
    }
    error("{% raw %} without {% endraw %}");
  }

  /// The tokens of a tag, and its end.
  void inside(char kind) {
    const std::string_view close = kind == '{' ? "}}" : "%}";
    std::vector<char> open;
    while (true) {
      while (at_ < s_.size() && is_space(s_[at_])) skip_to(at_ + 1);
      if (at_ >= s_.size()) error("a tag does not end");
      if (open.empty()) {
        const char sign = s_[at_];
        if ((sign == '-' || (sign == '+' && kind == '%')) && s_.compare(at_ + 1, 2, close) == 0) {
          add(kind == '{' ? Kind::variable_end : Kind::block_end, "");
          return leave(at_ + 3, sign, kind == '%');
        }
        if (sees(close)) {
          add(kind == '{' ? Kind::variable_end : Kind::block_end, "");
          return leave(at_ + 2, ' ', kind == '%');
        }
      }
      token(open);
    }
  }
  void token(std::vector<char>& open) {
    const char c = s_[at_];
    if (begins_name(c)) {
      std::size_t end = at_;
      while (end < s_.size() && (begins_name(s_[end]) || is_digit(s_[end]))) ++end;
      add(Kind::name, s_.substr(at_, end - at_));
      return skip_to(end);
    }
    if (is_digit(c)) return digits();
    if (c == '"' || c == '\'') return quoted(c);
    static constexpr std::array<std::string_view, 7> kDouble = {
        "**", "//", "==", "!=", "<=", ">=", "::"};
    for (const std::string_view s : kDouble)
      if (s != "::" && sees(s)) {
        add(Kind::symbol, std::string(s));
        return skip_to(at_ + 2);
      }
    if (std::string_view("+-*/%~<>=.:|,;()[]{}").find(c) == std::string_view::npos)
      error(fmt::format("unexpected character '{}'",
                        s_.substr(at_, python::character_length(s_, at_))));
    if (c == '(' || c == '[' || c == '{') open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) error(fmt::format("unexpected '{}'", c));
      open.pop_back();
    }
    if (open.size() > 64) error("brackets are nested more than 64 deep");
    add(Kind::symbol, std::string(1, c));
    skip_to(at_ + 1);
  }
  void digits() {
    std::size_t end = at_;
    const auto take = [&](auto&& is) {
      while (end < s_.size() &&
             (is(s_[end]) || (s_[end] == '_' && end + 1 < s_.size() && is(s_[end + 1]))))
        ++end;
    };
    bool whole = true;
    int base = 10;
    if (s_[at_] == '0' && at_ + 1 < s_.size() &&
        std::string_view("xXoObB").find(s_[at_ + 1]) != std::string_view::npos) {
      const char letter = static_cast<char>(std::tolower(s_[at_ + 1]));
      base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
      end += 2;
      take([](char x) { return std::isxdigit(static_cast<unsigned char>(x)) != 0; });
    } else {
      take(is_digit);
      if (end + 1 < s_.size() && s_[end] == '.' && is_digit(s_[end + 1])) {
        ++end, whole = false;
        take(is_digit);
      }
      if (end < s_.size() && (s_[end] == 'e' || s_[end] == 'E')) {
        std::size_t e = end + 1;
        if (e < s_.size() && (s_[e] == '+' || s_[e] == '-')) ++e;
        if (e < s_.size() && is_digit(s_[e])) {
          end = e, whole = false;
          take(is_digit);
        }
      }
    }
    std::string text = s_.substr(at_, end - at_);
    std::erase(text, '_');
    if (whole) {
      try {
        text = std::to_string(std::stoll(base == 10 ? text : text.substr(2), nullptr, base));
      } catch (const std::exception&) {
        error(fmt::format("{} is no integer of 64 bits", text));
      }
    }
    add(whole ? Kind::integer : Kind::number, text);
    skip_to(end);
  }
  void quoted(char quote) {
    std::string out;
    std::size_t i = at_ + 1;
    const auto hex = [&](std::size_t count) {
      if (i + count > s_.size()) error("an escape does not end");
      char32_t code = 0;
      for (std::size_t k = 0; k < count; ++k, ++i) {
        const auto c = static_cast<unsigned char>(s_[i]);
        if (std::isxdigit(c) == 0) error("an escape needs hexadecimal digits");
        code = code * 16 +
               static_cast<char32_t>(std::isdigit(c) ? c - '0' : std::tolower(c) - 'a' + 10);
      }
      if (code > 0x10ffff) error("an escape is beyond Unicode");
      out += python::utf8(code);
    };
    for (; i < s_.size() && s_[i] != quote;) {
      if (s_[i] != '\\') {
        out += s_[i++];
        continue;
      }
      if (++i >= s_.size()) break;
      const char c = s_[i++];
      switch (c) {
        case '\n': break;
        case 'n': out += '\n'; break;
        case 't': out += '\t'; break;
        case 'r': out += '\r'; break;
        case 'a': out += '\a'; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'v': out += '\v'; break;
        case '\\':
        case '\'':
        case '"': out += c; break;
        case 'x': hex(2); break;
        case 'u': hex(4); break;
        case 'U': hex(8); break;
        default:
          if (c >= '0' && c <= '7') {
            char32_t code = static_cast<char32_t>(c - '0');
            for (int k = 0; k < 2 && i < s_.size() && s_[i] >= '0' && s_[i] <= '7'; ++k)
              code = code * 8 + static_cast<char32_t>(s_[i++] - '0');
            out += python::utf8(code);
          } else {
            out += '\\';
            out += c;
          }
      }
    }
    if (i >= s_.size()) error("a string does not end");
    add(Kind::string, out);
    skip_to(i + 1);
  }

  std::string s_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool starts_line_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view text) { return Lexer(text).run(); }

}  // namespace strata::tokenizer::jinja
