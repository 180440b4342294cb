// Characters and their classes as the package `tokenizers` knows them.
//
// Classes come from tables of our own (unicode_tables.inc), so that tokens do not depend on the
// version of a system's Unicode library. Normalisation forms are ICU's, of the characters that
// Unicode 9 has: the package's tables are of that version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::tokenizer {

/// A general category of Unicode.
enum Category : std::uint8_t {
  kCn,
  kLu,
  kLl,
  kLt,
  kLm,
  kLo,
  kMn,
  kMc,
  kMe,
  kNd,
  kNl,
  kNo,
  kPc,
  kPd,
  kPs,  // clang-format off
  kPe, kPi, kPf, kPo, kSm, kSc, kSk, kSo, kZs, kZl, kZp, kCc, kCf, kCo,  // clang-format on
};

/// A character of well-formed UTF-8 and how many bytes it takes.
struct CodePoint {
  char32_t value;
  std::size_t bytes;
};
/// The character at byte `at`, which is below the size of `text`; `text` is well-formed.
CodePoint code_point_at(std::string_view text, std::size_t at);
/// The character that ends before byte `end`, which is above 0.
CodePoint code_point_before(std::string_view text, std::size_t end);
/// Appends a character as UTF-8.
void append(std::string& out, char32_t c);
/// The text with U+FFFD for each byte that is outside of well-formed UTF-8.
std::string well_formed(std::string_view text);
/// How many characters a well-formed text has.
std::size_t count_characters(std::string_view text);

Category category(char32_t c);
bool is_letter(char32_t c);
bool is_mark(char32_t c);
bool is_number(char32_t c);
bool is_punctuation_category(char32_t c);
bool is_symbol(char32_t c);
/// Unicode's White_Space.
bool is_space(char32_t c);
/// \w of added tokens and of the pre-tokenizer Whitespace: letters, marks, digits, connectors.
bool is_word(char32_t c);
/// Characters of the categories Nd, Nl, No.
bool is_numeric(char32_t c);
/// Punctuation and the symbols among the ASCII characters.
bool is_punctuation(char32_t c);
/// What StripAccents removes.
bool is_accent(char32_t c);
/// What the normalizer of BERT removes as an accent, and as a control character.
bool is_bert_accent(char32_t c);
bool is_bert_control(char32_t c);

/// Appends the lower case of one character, without regard to its neighbours.
void append_lower(std::string& out, char32_t c);

enum class Form { nfc, nfd, nfkc, nfkd };
/// The text in a normalisation form.
std::string normalize(std::string_view text, Form form);

/// Where each extended grapheme cluster ends, ascending.
std::vector<std::size_t> grapheme_ends(std::string_view text);

/// Since which major version Unicode has a character; 0 for one that the system's ICU lacks.
int unicode_age(char32_t c);

/// The script of a character, as a number that is equal for equal scripts; 0 for a space
/// and for what Unicode 9 lacks. Kana count as Han, as in SentencePiece.
int script(char32_t c);

}  // namespace strata::tokenizer
