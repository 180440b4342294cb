#include "strata/tokenizer/known_patterns.h"

#include <utility>

#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define NO_LETTER "[^\\r\\n\\p{L}\\p{N}]?"

namespace expression {
const char kGpt2[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const char kDigit[] = R"(\p{N})";
const char kLlama3[] =
    CONTRACTIONS "|" NO_LETTER "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES;
const char kQwen2[] =
    CONTRACTIONS "|" NO_LETTER "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES;
const char kQwen35[] =
    CONTRACTIONS "|" NO_LETTER "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" SPACES;
const char kGpt4o[] =
    NO_LETTER UPPER "*" LOWER "+" CONTRACTIONS "?|" NO_LETTER UPPER "+" LOWER "*" CONTRACTIONS
                    "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES;
const char kTekken[] = NO_LETTER UPPER "*" LOWER "+|" NO_LETTER UPPER "+" LOWER
                                       "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES;
const char kThreeDigits[] = R"(\p{N}{1,3})";
const char kDeepseekHan[] =
    "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f"
    "\xe3\x82\xa0-\xe3\x83\xbf]+";
const char kDeepseekWords[] =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}"
    "\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*" SPACES;
}  // namespace expression

namespace {

using Class = bool (*)(char32_t);

bool letter_or_mark(char32_t c) { return is_letter(c) || is_mark(c); }
bool upper(char32_t c) {
  const Category k = category(c);
  return k == kLu || k == kLt || k == kLm || k == kLo || is_mark(c);
}
bool lower(char32_t c) {
  const Category k = category(c);
  return k == kLl || k == kLm || k == kLo || is_mark(c);
}
bool no_word(char32_t c) { return !is_space(c) && !is_letter(c) && !is_number(c); }
bool no_word_or_mark(char32_t c) { return no_word(c) && !is_mark(c); }
bool line_end(char32_t c) { return c == '\r' || c == '\n'; }
bool line_end_or_slash(char32_t c) { return line_end(c) || c == '/'; }
bool no_letter(char32_t c) { return !line_end(c) && !is_letter(c) && !is_number(c); }
bool no_letter_or_sign(char32_t c) {
  return !line_end(c) && !is_letter(c) && !is_punctuation_category(c) && !is_symbol(c);
}
bool sign(char32_t c) { return is_punctuation_category(c) || is_symbol(c); }
bool ascii_letter(char32_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
bool ascii_sign(char32_t c) {
  return c > 0x20 && c < 0x7f && !ascii_letter(c) && !(c >= '0' && c <= '9');
}
bool han_or_kana(char32_t c) {
  return (c >= 0x4e00 && c <= 0x9fa5) || (c >= 0x3040 && c <= 0x30ff);
}

/// The end of at most `most` characters of a class.
std::size_t run(std::string_view text, std::size_t at, Class in, std::size_t most = SIZE_MAX) {
  for (; most > 0 && at < text.size(); --most) {
    const CodePoint c = code_point_at(text, at);
    if (!in(c.value)) break;
    at += c.bytes;
  }
  return at;
}

/// 's, 't, 're, 've, 'm, 'll, 'd; without regard to case U+017F is an s too.
std::size_t contraction(std::string_view text, std::size_t at, bool any_case) {
  if (at + 1 >= text.size() || text[at] != '\'') return at;
  const auto small = [&](std::size_t i) {
    const char c = i < text.size() ? text[i] : '\0';
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  const char a = small(at + 1), b = small(at + 2);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
  if (any_case && text.substr(at + 1, 2) == "\xc5\xbf") return at + 3;
  return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? at + 3 : at;
}

/// X?Y+ where X may be within Y.
std::size_t prefixed(std::string_view text, std::size_t at, Class prefix, Class in) {
  const std::size_t behind = run(text, at, prefix, 1);
  if (const std::size_t end = run(text, behind, in); end > behind) return end;
  return behind > at ? run(text, at, in) : at;
}

/// " ?" before a class, then what may follow.
std::size_t spaced(std::string_view text, std::size_t at, Class in, Class tail = nullptr) {
  const std::size_t begin = at + (text[at] == ' ');
  const std::size_t end = run(text, begin, in);
  if (end == begin) return at;
  return tail ? run(text, end, tail) : end;
}

/// \s*[\r\n]+|\s+(?!\S)|\s+ or the last two alone.
std::size_t spaces(std::string_view text, std::size_t at, bool lines) {
  std::size_t end = at, last = at, behind_line = at;
  while (end < text.size()) {
    const CodePoint c = code_point_at(text, end);
    if (!is_space(c.value)) break;
    last = end;
    end += c.bytes;
    if (line_end(c.value)) behind_line = end;
  }
  if (lines && behind_line > at) return behind_line;
  return end == text.size() || last == at ? end : last;
}

std::size_t gpt2(std::string_view text, std::size_t at) {
  std::size_t end = contraction(text, at, false);
  if (end == at) end = spaced(text, at, is_letter);
  if (end == at) end = spaced(text, at, is_number);
  if (end == at) end = spaced(text, at, no_word);
  return end == at ? spaces(text, at, false) : end;
}

template <int digits, bool marks>
std::size_t llama(std::string_view text, std::size_t at) {
  std::size_t end = contraction(text, at, true);
  if (end == at) end = prefixed(text, at, no_letter, marks ? letter_or_mark : is_letter);
  if (end == at) end = run(text, at, is_number, digits);
  if (end == at) end = spaced(text, at, marks ? no_word_or_mark : no_word, line_end);
  return end == at ? spaces(text, at, true) : end;
}

/// U*W+ of overlapping classes: the longest run of U, then W; where no W follows, the last U that
/// is a W too ends it.
std::size_t upper_lower(std::string_view text, std::size_t at) {
  std::size_t end = at, both = at;
  while (end < text.size()) {
    const CodePoint c = code_point_at(text, end);
    if (!upper(c.value)) break;
    end += c.bytes;
    if (lower(c.value)) both = end;
  }
  const std::size_t tail = run(text, end, lower);
  return tail > end ? tail : both;
}

/// U+W*.
std::size_t uppers_lower(std::string_view text, std::size_t at) {
  const std::size_t end = run(text, at, upper);
  return end == at ? at : run(text, end, lower);
}

template <int digits, bool suffix>
std::size_t gpt4o(std::string_view text, std::size_t at) {
  const std::size_t behind = run(text, at, no_letter, 1);
  for (auto* word : {upper_lower, uppers_lower}) {
    std::size_t end = word(text, behind), from = behind;
    if (end == from && behind > at) end = word(text, at), from = at;
    if (end > from) return suffix ? contraction(text, end, true) : end;
  }
  std::size_t end = run(text, at, is_number, digits);
  if (end == at) end = spaced(text, at, no_word, line_end_or_slash);
  return end == at ? spaces(text, at, true) : end;
}

std::size_t deepseek_words(std::string_view text, std::size_t at) {
  if (const std::size_t behind = run(text, at, ascii_sign, 1); behind > at) {
    if (const std::size_t end = run(text, behind, ascii_letter); end > behind) return end;
  }
  std::size_t end = prefixed(text, at, no_letter_or_sign, letter_or_mark);
  if (end == at) end = spaced(text, at, sign, line_end);
  return end == at ? spaces(text, at, true) : end;
}

template <int most>
std::size_t digits(std::string_view text, std::size_t at) {
  return run(text, at, is_number, most);
}

std::size_t han(std::string_view text, std::size_t at) { return run(text, at, han_or_kana); }

}  // namespace

Matcher known_matcher(std::string_view expression) {
  static constexpr std::pair<const char*, Matcher> kAll[] = {
      {expression::kGpt2, gpt2},
      {expression::kDigit, digits<1>},
      {expression::kLlama3, llama<3, false>},
      {expression::kQwen2, llama<1, false>},
      {expression::kQwen35, llama<1, true>},
      {expression::kGpt4o, gpt4o<3, true>},
      {expression::kTekken, gpt4o<1, false>},
      {expression::kThreeDigits, digits<3>},
      {expression::kDeepseekHan, han},
      {expression::kDeepseekWords, deepseek_words},
  };
  for (const auto& [known, matcher] : kAll) {
    if (expression == known) return matcher;
  }
  return nullptr;
}

}  // namespace strata::tokenizer
