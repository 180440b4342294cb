// Calls as a list of Python's: [f(a=1), g(b="x")].
#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "strata/serve/call_syntax.h"

namespace strata::serve {
namespace {

constexpr std::size_t kLongestName = 256, kMostArguments = 1024;
constexpr int kDeepest = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

void put_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

/// Writes a literal as JSON, by recursive descent. Each of `value`'s parts says whether it was one.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}
  std::optional<std::string> json() {
    if (!value(0)) return std::nullopt;
    skip();
    if (at_ != text_.size()) return std::nullopt;
    return std::move(out_);
  }

 private:
  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool next_is(char a, char b) {
    skip();
    return at_ < text_.size() && (text_[at_] == a || text_[at_] == b);
  }

  bool value(int depth) {
    skip();
    if (at_ == text_.size() || depth > kDeepest) return false;
    const char c = text_[at_];
    if (c == '"' || c == '\'') return string();
    if (c == '[') return ++at_, list(']', depth);
    if (c == '(') return ++at_, list(')', depth);
    if (c == '{') return ++at_, dict(depth);
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return number();
    for (const auto& [word, json] : {std::pair<std::string_view, std::string_view>{"True", "true"},
                                     {"False", "false"},
                                     {"None", "null"},
                                     {"true", "true"},
                                     {"false", "false"},
                                     {"null", "null"}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      if (at_ < text_.size() && is_word(text_[at_])) return false;
      out_ += json;
      return true;
    }
    return false;
  }

  /// Strings beside one another are one.
  bool string() {
    std::string all;
    do {
      if (!one_string(all)) return false;
    } while (next_is('"', '\''));
    out_ += dump(Json(all));
    return true;
  }
  bool one_string(std::string& all) {
    const char quote = text_[at_++];
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == quote) return true;
      if (c != '\\') {
        all += c;
        continue;
      }
      if (at_ == text_.size() || !escape(all)) return false;
    }
    return false;
  }
  bool escape(std::string& all) {
    const char c = text_[at_++];
    switch (c) {
      case 'n': all += '\n'; return true;
      case 't': all += '\t'; return true;
      case 'r': all += '\r'; return true;
      case 'a': all += '\a'; return true;
      case 'b': all += '\b'; return true;
      case 'f': all += '\f'; return true;
      case 'v': all += '\v'; return true;
      case '\n': return true;
      case 'x': return code(2, all);
      case 'u': return code(4, all);
      case 'U': return code(8, all);
      default: break;
    }
    if (c >= '0' && c <= '7') {
      auto number = static_cast<std::uint32_t>(c - '0');
      for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i)
        number = number * 8 + static_cast<std::uint32_t>(text_[at_++] - '0');
      put_utf8(all, number);
      return true;
    }
    // A backslash before anything else stays.
    if (c != '\\' && c != '\'' && c != '"') all += '\\';
    all += c;
    return true;
  }
  bool code(std::size_t digits, std::string& all) {
    std::uint32_t number = 0;
    if (!hex(digits, number)) return false;
    // Halves of a character, as JSON writes them.
    if (number >= 0xd800 && number < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      std::uint32_t low = 0;
      if (!hex(4, low) || low < 0xdc00 || low >= 0xe000) return false;
      number = 0x10000 + ((number - 0xd800) << 10) + (low - 0xdc00);
    }
    if (number > 0x10ffff || (number >= 0xd800 && number < 0xe000)) return false;
    put_utf8(all, number);
    return true;
  }
  bool hex(std::size_t digits, std::uint32_t& number) {
    if (text_.size() - at_ < digits) return false;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = text_[at_++];
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return false;
      number =
          number * 16 + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    return true;
  }

  bool number() {
    std::string whole, part, power;
    if (text_[at_] == '-') out_ += '-';
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    digits(whole);
    const bool point = at_ < text_.size() && text_[at_] == '.';
    if (point) ++at_, digits(part);
    if (whole.empty() && part.empty()) return false;
    if (whole.size() > 1 && whole[0] == '0' && !point) return false;
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
    out_ += whole.empty() ? "0" : whole;
    if (point) out_ += "." + (part.empty() ? "0" : part);
    if (at_ < text_.size() && (text_[at_] | 32) == 'e') {
      out_ += 'e';
      if (++at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) out_ += text_[at_++];
      digits(power);
      if (power.empty()) return false;
      out_ += power;
    }
    return at_ == text_.size() || !is_word(text_[at_]);
  }
  void digits(std::string& out) {
    while (at_ < text_.size() && (is_digit(text_[at_]) || (text_[at_] == '_' && !out.empty()))) {
      if (text_[at_] != '_') out += text_[at_];
      ++at_;
    }
  }

  bool list(char end, int depth) {
    out_ += '[';
    for (bool first = true; !take(end); first = false) {
      if (!first && !take(',')) return false;
      if (!first && take(end)) break;
      if (!first) out_ += ", ";
      if (!value(depth + 1)) return false;
    }
    out_ += ']';
    return true;
  }
  bool dict(int depth) {
    out_ += '{';
    for (bool first = true; !take('}'); first = false) {
      if (!first && !take(',')) return false;
      if (!first && take('}')) break;
      if (!first) out_ += ", ";
      if (!next_is('"', '\'') || !string() || !take(':')) return false;
      out_ += ": ";
      if (!value(depth + 1)) return false;
    }
    out_ += '}';
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

class PythonicSyntax final : public CallSyntax {
 public:
  PythonicSyntax(CallFormat format, ToolChoice choice, std::string id)
      : CallSyntax(std::move(format), std::move(choice), std::move(id)),
        opens_{std::string(trimmed(format_.begin)), "<|python_start|>", "<|python_tag|>"} {}

  void add(std::string_view text, bool is_end, Part& out) override {
    text_ += text;
    while (!gave_up_ && step(is_end, out)) {
    }
    if (!gave_up_) return;
    // What is no call is content: the whole text where there was none before it.
    out.content += std::string_view(text_).substr(from_);
    text_.clear();
    at_ = from_ = 0;
  }

 private:
  enum class Stage { open, name, argument, value, after_value, after_call, closed };

  bool go(Stage stage) {
    stage_ = stage;
    return true;
  }
  bool give_up() {
    gave_up_ = true;
    return false;
  }
  /// Moves to the next character that is no space; whether there is one.
  bool skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size();
  }
  /// Where a word ends that begins here; none: it may go on.
  std::optional<std::size_t> word() const {
    std::size_t end = at_;
    while (end < text_.size() && end - at_ <= kLongestName && is_word(text_[end])) ++end;
    if (end == text_.size()) return std::nullopt;
    return end;
  }

  bool step(bool is_end, Part& out) {
    if (stage_ == Stage::value) return read_value(is_end);
    if (!skip()) {
      if (!is_end || stage_ == Stage::closed || stage_ == Stage::after_call) return false;
      return give_up();
    }
    switch (stage_) {
      case Stage::open: return read_open(is_end);
      case Stage::name: return read_name(is_end);
      case Stage::argument: return read_argument(is_end, out);
      case Stage::value: break;
      case Stage::after_value: {
        const char c = text_[at_++];
        if (c == ',') return go(Stage::argument);
        return c == ')' ? finish(out) : give_up();
      }
      case Stage::after_call: {
        const char c = text_[at_];
        if (c != ',' && c != ']') return give_up();
        ++at_;
        from_ = at_;
        return go(c == ',' ? Stage::name : Stage::closed);
      }
      case Stage::closed:
        // The mark of the end, and what the model says behind it.
        text_.clear();
        at_ = from_ = 0;
        return false;
    }
    return false;
  }

  bool read_open(bool is_end) {
    const std::string_view seen = std::string_view(text_).substr(at_);
    if (seen[0] == '[') {
      ++at_;
      return go(Stage::name);
    }
    for (const std::string& open : opens_) {
      if (open.empty()) continue;
      if (seen.starts_with(open)) {
        at_ += open.size();
        return true;
      }
      if (!is_end && std::string_view(open).starts_with(seen)) return false;
    }
    return give_up();
  }

  bool read_name(bool is_end) {
    const auto end = word();
    if (!end) return is_end && give_up();
    const std::string_view name = std::string_view(text_).substr(at_, *end - at_);
    // Spaces may stand before the parenthesis.
    std::size_t behind = *end;
    while (behind < text_.size() && is_space(text_[behind])) ++behind;
    if (!knows(name) || behind - *end > kLongestName) return give_up();
    if (behind == text_.size()) return is_end && give_up();
    if (text_[behind] != '(') return give_up();
    name_ = name;
    at_ = behind + 1;
    arguments_.clear(), keys_.clear();
    return go(Stage::argument);
  }

  bool read_argument(bool is_end, Part& out) {
    if (text_[at_] == ')') {
      ++at_;
      return finish(out);
    }
    const auto end = word();
    if (!end) return is_end && give_up();
    std::string key = text_.substr(at_, *end - at_);
    std::size_t behind = *end;
    while (behind < text_.size() && is_space(text_[behind])) ++behind;
    if (key.empty() || behind - *end > kLongestName || keys_.size() == kMostArguments)
      return give_up();
    if (behind == text_.size()) return is_end && give_up();
    if (text_[behind] != '=' || !keys_.insert(key).second) return give_up();
    key_ = std::move(key);
    at_ = value_ = behind + 1;
    depth_ = 0;
    quote_ = 0;
    escaped_ = false;
    return go(Stage::value);
  }

  /// Reads on to the comma or parenthesis behind a value.
  bool read_value(bool is_end) {
    for (; value_ < text_.size(); ++value_) {
      const char c = text_[value_];
      if (quote_ != 0) {
        if (escaped_)
          escaped_ = false;
        else if (c == '\\')
          escaped_ = true;
        else if (c == quote_)
          quote_ = 0;
        continue;
      }
      if (c == '"' || c == '\'') {
        quote_ = c;
      } else if (c == '[' || c == '{' || c == '(') {
        ++depth_;
      } else if (depth_ > 0 && (c == ']' || c == '}' || c == ')')) {
        --depth_;
      } else if (depth_ == 0 && (c == ',' || c == ')')) {
        auto json = python_as_json(std::string_view(text_).substr(at_, value_ - at_));
        if (!json) return give_up();
        arguments_ += (arguments_.empty() ? "{" : ", ") + dump(Json(key_)) + ": " + *json;
        at_ = value_;
        return go(Stage::after_value);
      } else if (depth_ == 0 && (c == ']' || c == '}')) {
        return give_up();
      }
    }
    return is_end && give_up();
  }

  bool finish(Part& out) {
    tell(name_, arguments_.empty() ? "{}" : arguments_ + "}", out);
    from_ = at_;
    return go(Stage::after_call);
  }

  std::vector<std::string> opens_;
  Stage stage_ = Stage::open;
  std::string text_;
  std::size_t at_ = 0, from_ = 0, value_ = 0;  // read; behind the last call; of the value
  std::size_t depth_ = 0;
  char quote_ = 0;
  bool escaped_ = false, gave_up_ = false;
  std::string name_, key_, arguments_;
  std::set<std::string> keys_;
};

}  // namespace

std::optional<std::string> python_as_json(std::string_view literal) {
  return Literal(literal).json();
}

std::unique_ptr<CallSyntax> pythonic_syntax(CallFormat format, ToolChoice choice, std::string id) {
  return std::make_unique<PythonicSyntax>(std::move(format), std::move(choice), std::move(id));
}

}  // namespace strata::serve
