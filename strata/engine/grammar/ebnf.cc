#include "strata/engine/grammar/ebnf.h"

#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.h"
#include "strata/engine/grammar/regex.h"

namespace strata::engine::grammar {
namespace {

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { rules_["root"] = g_.root(); }

  Grammar whole() {
    skip();
    while (at_ < text_.size()) {
      const std::string name = this->name();
      skip();
      if (!take("::=")) wrong("::= is missing behind the name of a rule");
      const Grammar::Rule rule = named(name);
      if (g_.defined(rule)) wrong("rule " + name + " is defined twice");
      g_.define(rule, choice(0));
      skip();
      if (at_ < text_.size() && !next_rule()) wrong("something else than a rule");
    }
    for (const auto& [name, rule] : rules_)
      if (!g_.defined(rule))
        throw Error("grammar", "rule {} is {}", name,
                    name == "root" ? "missing" : "used but not defined");
    return std::move(g_);
  }

 private:
  [[noreturn]] void wrong(std::string_view what) const {
    std::size_t line = 1;
    for (char c : text_.substr(0, at_)) line += c == '\n';
    throw Error("grammar", "line {}: {}", line, what);
  }

  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool take(std::string_view s) {
    if (!text_.substr(at_).starts_with(s)) return false;
    at_ += s.size();
    return true;
  }

  std::string name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    if (at_ == from) wrong("a name is missing");
    return std::string(text_.substr(from, at_ - from));
  }

  Grammar::Rule named(const std::string& name) {
    const auto known = rules_.find(name);
    if (known != rules_.end()) return known->second;
    return rules_[name] = g_.add_rule(name);
  }

  /// Whether a name and ::= stand here.
  bool next_rule() {
    const std::size_t from = at_;
    bool out = false;
    if (at_ < text_.size() && in_name(text_[at_])) {
      while (at_ < text_.size() && in_name(text_[at_])) ++at_;
      skip();
      out = text_.substr(at_).starts_with("::=");
    }
    at_ = from;
    return out;
  }

  Grammar::Node choice(int depth) {
    if (depth > kDeepestGroup) wrong("groups are nested deeper than 64");
    std::vector<Grammar::Node> parts;
    do {
      parts.push_back(sequence(depth));
      skip();
    } while (take("|"));
    return g_.choice(std::move(parts));
  }

  Grammar::Node sequence(int depth) {
    std::vector<Grammar::Node> parts;
    for (;;) {
      skip();
      if (at_ >= text_.size() || text_[at_] == '|' || text_[at_] == ')' || next_rule())
        return g_.sequence(std::move(parts));
      const Grammar::Node one = atom(depth);
      parts.push_back(repeated(one));
    }
  }

  Grammar::Node repeated(Grammar::Node one) {
    for (;;) {
      skip();
      if (take("*"))
        one = g_.repeat(one, 0, Grammar::kAny);
      else if (take("+"))
        one = g_.repeat(one, 1, Grammar::kAny);
      else if (take("?"))
        one = g_.optional(one);
      else if (take("{"))
        one = counted(one);
      else
        return one;
    }
  }

  Grammar::Node counted(Grammar::Node one) {
    const auto number = [&](std::int64_t& out) {
      skip();
      const std::size_t from = at_;
      for (out = 0; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        if ((out = out * 10 + (text_[at_] - '0')) > Grammar::kMostRepeats)
          wrong("more than 10000 repetitions");
      const bool any = at_ > from;
      skip();
      return any;
    };
    std::int64_t least = 0, most = 0;
    const bool from = number(least);
    if (take(",")) {
      if (!number(most)) most = Grammar::kAny;
    } else if (from) {
      most = least;
    } else {
      wrong("a number is missing behind {");
    }
    if (!take("}")) wrong("a } is missing");
    return g_.repeat(one, least, most);
  }

  Grammar::Node atom(int depth) {
    if (take("(")) {
      if (take("=") || take("!")) wrong("look-ahead is not supported");
      const Grammar::Node out = choice(depth + 1);
      skip();
      if (!take(")")) wrong("a ) is missing");
      return out;
    }
    if (take("\"")) return g_.text(literal());
    if (take("[")) {
      try {
        return g_.characters(read_class(text_, at_));
      } catch (const Error& e) {
        wrong(e.message());
      }
    }
    if (take(".")) return g_.characters(CharacterSet::all());
    if (!in_name(text_[at_])) wrong("something else than a literal, a class, a name or a group");
    return g_.rule(named(name()));
  }

  std::string literal() {
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      if (text_[at_] != '\\') {
        out += text_[at_++];
        continue;
      }
      ++at_;
      const char c = at_ < text_.size() ? text_[at_++] : '\0';
      switch (c) {
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'v': out += '\v'; break;
        case 'x': out += utf8(hex(2)); break;
        case 'u': out += utf8(hex(4)); break;
        case 'U': out += utf8(hex(8)); break;
        case '\\':
        case '"':
        case '\'':
        case '[':
        case ']':
        case '-':
        case '/':
        case '^': out += c; break;
        default: wrong("an unknown escape");
      }
    }
    if (!take("\"")) wrong("a \" is missing");
    return out;
  }

  char32_t hex(int digits) {
    char32_t out = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : ' ';
      if (!std::isxdigit(static_cast<unsigned char>(c))) wrong("an escape that is cut short");
      out = out * 16 + static_cast<char32_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (out > 0x10FFFF || (out >= 0xD800 && out < 0xE000)) wrong("an escape of no character");
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Grammar g_;
  std::map<std::string, Grammar::Rule> rules_;
};

}  // namespace

Grammar read_ebnf(std::string_view text) {
  if (text.size() > kLongestGrammar)
    throw Error("grammar", "a grammar of {} bytes is longer than {}", text.size(), kLongestGrammar);
  return Reader(text).whole();
}

}  // namespace strata::engine::grammar
