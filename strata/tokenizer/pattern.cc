#include "strata/tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <map>
#include <mutex>

#include "strata/base/error.h"
#include "strata/tokenizer/known_patterns.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

constexpr std::size_t kLongestExpression = 4096;
// Steps for a match, and kibibytes: beyond, an expression backtracks without bound.
constexpr std::uint32_t kSteps = 1'000'000, kDepth = 20'000, kKibibytes = 20'000;

void put(std::vector<Match>& out, std::size_t begin, std::size_t end, bool matched) {
  if (begin < end) out.push_back({begin, end, matched});
}

std::vector<Match> by_matcher(Matcher matcher, std::string_view text) {
  std::vector<Match> out;
  std::size_t unmatched = 0, at = 0;
  while (at < text.size()) {
    const std::size_t end = matcher(text, at);
    if (end == at) {
      at += code_point_at(text, at).bytes;
      continue;
    }
    put(out, unmatched, at, false);
    put(out, at, end, true);
    unmatched = at = end;
  }
  put(out, unmatched, text.size(), false);
  return out;
}

std::vector<Match> by_string(const std::string& what, std::string_view text) {
  std::vector<Match> out;
  std::size_t at = 0;
  for (std::size_t found = what.empty() ? text.npos : text.find(what); found != text.npos;
       found = text.find(what, at)) {
    put(out, at, found, false);
    put(out, found, found + what.size(), true);
    at = found + what.size();
  }
  put(out, at, text.size(), false);
  return out;
}

/// Characters of a class that PCRE2 may not know yet, as ranges within brackets.
std::string newer_ranges(const std::function<bool(Category)>& in) {
  std::string out;
  const auto is = [&](char32_t c) {
    return in(category(c)) && (unicode_age(c) == 0 || unicode_age(c) > 12);
  };
  for (char32_t c = 0x80; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    if (!is(c)) continue;
    const char32_t first = c;
    while (c + 1 < 0x110000 && is(c + 1)) ++c;
    out += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", static_cast<unsigned>(first),
                       static_cast<unsigned>(c));
  }
  return out;
}

/// What `\p{name}` is within brackets: PCRE2's and what is newer; empty for other names.
std::string property(const std::string& name) {
  static constexpr std::string_view kNames =
      "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCo";
  if (name.empty() || name.size() > 2 || name[0] == 'C') return "";
  const auto in = [&](Category c) {
    return kNames.substr(2 * static_cast<std::size_t>(c), name.size()) == name;
  };
  bool known = false;
  for (int c = kLu; c <= kZp; ++c) known = known || in(static_cast<Category>(c));
  if (!known) return "";
  static std::mutex mutex;
  static std::map<std::string, std::string> made;
  const std::lock_guard<std::mutex> lock(mutex);
  std::string& out = made[name];
  if (out.empty()) out = "\\p{" + name + "}" + newer_ranges(in);
  return out;
}

/// What `\w` and `\s` are within brackets, as Oniguruma means them.
std::string word_or_space(char which) {
  if (which == 's')
    return "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{"
           "202f}"
           "\\x{205f}\\x{3000}";
  return property("L") + property("M") + property("Nd") + property("Nl") + property("Pc") +
         "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}"
         "\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}";
}

/// The expression with classes that do not depend on PCRE2's version, and \w and \s as Oniguruma
/// means them. Negated ones within brackets are left to PCRE2.
std::string with_classes(const std::string& expression) {
  std::string out;
  bool in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at], next = at + 1 < expression.size() ? expression[at + 1] : '\0';
    if (c != '\\') {
      in_class = c == '[' || (in_class && c != ']');
      out += c;
      continue;
    }
    ++at;
    std::string inside;
    const bool negated = next == 'W' || next == 'S' || next == 'P';
    if (next == 'w' || next == 'W') inside = word_or_space('w');
    if (next == 's' || next == 'S') inside = word_or_space('s');
    const std::size_t close = expression.find('}', at);
    if ((next == 'p' || next == 'P') && expression.substr(at + 1, 1) == "{" &&
        close != expression.npos)
      inside = property(expression.substr(at + 2, close - at - 2));
    if (inside.empty() || (negated && in_class)) {
      (out += c) += next == '\0' ? std::string() : std::string(1, next);
      continue;
    }
    if (next == 'p' || next == 'P') at = close;
    out += in_class ? inside : (negated ? "[^" : "[") + inside + "]";
  }
  return out;
}

class Compiled {
 public:
  explicit Compiled(std::string expression) : expression_(std::move(expression)) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    pcre2_code_free(code_);
    pcre2_match_context_free(limits_);
  }
  Status compile() {
    int error = 0;
    std::size_t where = 0;
    const std::string text = with_classes(expression_);
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                          PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
                          &where, nullptr);
    if (code_ == nullptr)
      return Status(Code::invalid, "'{}' is no regular expression: {} at byte {}", expression_,
                    reason(error), where);
    limits_ = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(limits_, kSteps);
    pcre2_set_depth_limit(limits_, kDepth);
    pcre2_set_heap_limit(limits_, kKibibytes);
    return {};
  }
  std::vector<Match> matches(std::string_view text) const {
    std::vector<Match> out;
    const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(
        pcre2_match_data_create_from_pattern(code_, nullptr), pcre2_match_data_free);
    std::size_t unmatched = 0, at = 0;
    while (at <= text.size()) {
      const int found = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                    at, PCRE2_NO_UTF_CHECK, data.get(), limits_);
      if (found == PCRE2_ERROR_NOMATCH) break;
      if (found < 0)
        throw Error("encode", "the regular expression '{}' gave up: {}", expression_,
                    reason(found));
      const std::size_t* range = pcre2_get_ovector_pointer(data.get());
      put(out, unmatched, range[0], false);
      put(out, range[0], range[1], true);
      unmatched = std::max(range[0], range[1]);
      at = unmatched;
      if (range[1] <= range[0]) at += at < text.size() ? code_point_at(text, at).bytes : 1;
    }
    put(out, unmatched, text.size(), false);
    return out;
  }

 private:
  static std::string reason(int error) {
    PCRE2_UCHAR text[200];
    pcre2_get_error_message(error, text, sizeof text);
    return reinterpret_cast<const char*>(text);
  }
  std::string expression_;
  pcre2_code* code_ = nullptr;
  pcre2_match_context* limits_ = nullptr;
};

}  // namespace

Pattern Pattern::literal(const std::string& text) {
  return Pattern([text](std::string_view in) { return by_string(text, in); });
}

Result<Pattern> Pattern::slow_regex(const std::string& expression) {
  if (expression.size() > kLongestExpression)
    return Status(Code::invalid, "a regular expression of {} bytes: allowed are {}",
                  expression.size(), kLongestExpression);
  auto compiled = std::make_shared<Compiled>(expression);
  if (Status s = compiled->compile(); !s.ok()) return s;
  return Pattern([compiled](std::string_view text) { return compiled->matches(text); });
}

Result<Pattern> Pattern::regex(const std::string& expression) {
  if (const Matcher matcher = known_matcher(expression))
    return Pattern([matcher](std::string_view text) { return by_matcher(matcher, text); });
  return slow_regex(expression);
}

}  // namespace strata::tokenizer
