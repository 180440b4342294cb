#include "strata/engine/grammar/lark.h"

#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/regex.h"

namespace strata::engine::grammar {
namespace {

/// Terminals of Lark's `common` as regular expressions.
const std::map<std::string, std::string>& imports() {
  static const std::map<std::string, std::string> out = {
      {"DIGIT", "[0-9]"},
      {"HEXDIGIT", "[0-9a-fA-F]"},
      {"INT", "[0-9]+"},
      {"SIGNED_INT", "[+-]?[0-9]+"},
      {"DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"},
      {"FLOAT", "[0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?"},
      {"SIGNED_FLOAT",
       "[+-]?([0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)"},
      {"NUMBER", "[0-9]+([eE][+-]?[0-9]+)?|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?"},
      {"SIGNED_NUMBER",
       "[+-]?([0-9]+([eE][+-]?[0-9]+)?|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)"},
      {"ESCAPED_STRING", "\"([^\"\\\\\\n]|\\\\[^\\n])*\""},
      {"LCASE_LETTER", "[a-z]"},
      {"UCASE_LETTER", "[A-Z]"},
      {"LETTER", "[A-Za-z]"},
      {"WORD", "[A-Za-z]+"},
      {"CNAME", "[A-Za-z_][A-Za-z0-9_]*"},
      {"WS_INLINE", "[ \\t]+"},
      {"WS", "[ \\t\\f\\r\\n]+"},
      {"CR", "\\r"},
      {"LF", "\\n"},
      {"NEWLINE", "(\\r?\\n)+"},
      {"SH_COMMENT", "#[^\\n]*"},
      {"CPP_COMMENT", "//[^\\n]*"},
  };
  return out;
}

bool is_terminal(const std::string& name) {
  for (char c : name)
    if (c != '_') return c >= 'A' && c <= 'Z';
  return false;
}

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Grammar whole() {
    between_ = g_.add_rule("ignored");
    for (skip(true); at_ < text_.size(); skip(true)) {
      if (take("%"))
        directive();
      else
        definition();
      skip(false);
      if (at_ < text_.size() && text_[at_] != '\n') wrong("something behind a rule");
    }
    for (const auto& [name, rule] : rules_)
      if (!g_.defined(rule)) throw Error("grammar", "{} is used but not defined", name);
    if (!rules_.contains("start")) throw Error("grammar", "rule start is missing");
    g_.define(between_, g_.repeat(g_.choice(std::move(ignored_)), 0, Grammar::kAny));
    const auto begin = g_.rule(between_), start = g_.rule(rules_["start"]);
    g_.define(g_.root(), g_.sequence({begin, start}));
    return std::move(g_);
  }

 private:
  [[noreturn]] void wrong(std::string_view what) const {
    std::size_t line = 1;
    for (char c : text_.substr(0, at_)) line += c == '\n';
    throw Error("grammar", "line {}: {}", line, what);
  }

  void skip(bool lines) {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("//") || rest.starts_with("#")) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (rest[0] == '\\' && rest.size() > 1 && rest[1] == '\n') {
        at_ += 2;
      } else if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' ||
                 (lines && rest[0] == '\n')) {
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

  void directive() {
    const std::string what = name();
    skip(false);
    if (what == "ignore") {
      in_terminal_ = true;
      ignored_.push_back(choice(0));
      return;
    }
    if (what != "import") wrong("%" + what + " is not supported");
    if (!take("common.")) wrong("only `common` can be imported");
    if (take("(")) wrong("lists of imports are not supported");
    import(name());
  }

  void import(const std::string& from) {
    const auto known = imports().find(from);
    if (known == imports().end()) wrong("common has no " + from + " here");
    skip(false);
    std::string as = from;
    if (take("->")) {
      skip(false);
      as = name();
    }
    const Grammar::Rule rule = named(as);
    if (g_.defined(rule)) wrong(as + " is defined twice");
    g_.define(rule, regex(g_, known->second));
  }

  void definition() {
    if (!take("?")) take("!");
    const std::string name = this->name();
    if (take("{")) wrong("templates are not supported");
    if (take("."))
      while (at_ < text_.size() && (in_name(text_[at_]) || text_[at_] == '-')) ++at_;
    skip(false);
    if (!take(":")) wrong("a : is missing behind the name of a rule");
    const Grammar::Rule rule = named(name);
    if (g_.defined(rule)) wrong(name + " is defined twice");
    in_terminal_ = is_terminal(name);
    g_.define(rule, choice(0));
  }

  /// Whether a | goes on, on this line or a later one; in groups, whatever stands on a later line.
  bool more() {
    const std::size_t from = at_;
    skip(true);
    if (at_ < text_.size() && text_[at_] == '|') return true;
    at_ = from;
    skip(false);
    return false;
  }

  Grammar::Node choice(int depth) {
    if (depth > kDeepestGroup) wrong("groups are nested deeper than 64");
    std::vector<Grammar::Node> parts;
    if (more()) take("|");
    do {
      parts.push_back(sequence(depth));
      more();
    } while (take("|"));
    return g_.choice(std::move(parts));
  }

  Grammar::Node sequence(int depth) {
    std::vector<Grammar::Node> parts;
    for (;;) {
      skip(depth > 0);
      if (take("->")) {
        skip(false);
        name();
        skip(depth > 0);
      }
      const char c = at_ < text_.size() ? text_[at_] : '\n';
      if (c == '\n' || c == '|' || c == ')' || c == ']') return g_.sequence(std::move(parts));
      const Grammar::Node one = atom(depth);
      parts.push_back(repeated(one));
    }
  }

  Grammar::Node repeated(Grammar::Node one) {
    if (take("*")) return g_.repeat(one, 0, Grammar::kAny);
    if (take("+")) return g_.repeat(one, 1, Grammar::kAny);
    if (take("?")) return g_.optional(one);
    skip(false);
    if (!take("~")) return one;
    skip(false);
    const std::int64_t least = number();
    skip(false);
    std::int64_t most = least;
    if (take("..")) {
      skip(false);
      most = number();
    }
    return g_.repeat(one, least, most);
  }

  std::int64_t number() {
    std::int64_t out = 0;
    const std::size_t from = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if ((out = out * 10 + (text_[at_] - '0')) > Grammar::kMostRepeats)
        wrong("more than 10000 repetitions");
    if (at_ == from) wrong("a number is missing");
    return out;
  }

  /// A terminal as a rule uses it: what is ignored may stand behind it.
  Grammar::Node terminal(Grammar::Node one) {
    if (in_terminal_) return one;
    const Grammar::Node behind = g_.rule(between_);
    return g_.sequence({one, behind});
  }

  Grammar::Node atom(int depth) {
    if (take("(")) {
      const Grammar::Node out = choice(depth + 1);
      skip(true);
      if (!take(")")) wrong("a ) is missing");
      return out;
    }
    if (take("[")) {
      const Grammar::Node out = choice(depth + 1);
      skip(true);
      if (!take("]")) wrong("a ] is missing");
      return g_.optional(out);
    }
    if (text_[at_] == '"') return terminal(string());
    if (take("/")) return terminal(expression());
    if (!in_name(text_[at_])) wrong("something else than a string, an expression or a name");
    const std::string name = this->name();
    if (take("{")) wrong("templates are not supported");
    const Grammar::Node out = g_.rule(named(name));
    return is_terminal(name) ? terminal(out) : out;
  }

  std::string literal() {
    ++at_;
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
        case 'f': out += '\f'; break;
        case '\\':
        case '"':
        case '/': out += c; break;
        default: wrong("an unknown escape");
      }
    }
    if (!take("\"")) wrong("a \" is missing");
    return out;
  }

  Grammar::Node string() {
    const std::string first = literal();
    if (take("..")) {
      if (at_ >= text_.size() || text_[at_] != '"') wrong("a range wants two strings");
      const std::string last = literal();
      std::size_t a = 0, b = 0;
      if (first.empty() || last.empty()) wrong("a range wants two characters");
      const char32_t from = next_character(first, a), to = next_character(last, b);
      if (a != first.size() || b != last.size() || from > to)
        wrong("a range wants two characters that ascend");
      return g_.characters({{from, to}});
    }
    if (take("i")) return g_.text_in_any_case(first);
    return g_.text(first);
  }

  Grammar::Node expression() {
    const std::size_t from = at_;
    bool in_class = false;
    for (; at_ < text_.size() && text_[at_] != '\n' && (in_class || text_[at_] != '/'); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '[')
        in_class = true;
      else if (text_[at_] == ']')
        in_class = false;
    }
    if (at_ >= text_.size() || text_[at_] != '/') wrong("a / is missing");
    const std::string_view pattern = text_.substr(from, at_ - from);
    ++at_;
    bool any_case = false;
    for (; at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])); ++at_) {
      if (text_[at_] != 'i' && text_[at_] != 'u') wrong("a flag that is not supported");
      any_case = any_case || text_[at_] == 'i';
    }
    return regex(g_, pattern, {.any_case = any_case});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Grammar g_;
  Grammar::Rule between_ = 0;
  bool in_terminal_ = false;
  std::map<std::string, Grammar::Rule> rules_;
  std::vector<Grammar::Node> ignored_;
};

}  // namespace

Grammar read_lark(std::string_view text) {
  if (text.size() > kLongestGrammar)
    throw Error("grammar", "a grammar of {} bytes is longer than {}", text.size(), kLongestGrammar);
  return Reader(text).whole();
}

bool looks_like_lark(std::string_view text) { return text.find("::=") == text.npos; }

}  // namespace strata::engine::grammar
