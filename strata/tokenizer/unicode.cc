#include "strata/tokenizer/unicode.h"

#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <memory>

#include "strata/base/check.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {
namespace {

struct Run {
  char32_t first;
  Category category;
};
struct Range {
  char32_t first, last;
};
struct LowerRun {
  char32_t first, last;
  unsigned step;
  std::int32_t difference;
};

#include "strata/tokenizer/unicode_tables.inc"

constexpr char32_t kPoints = 0x110000;

/// One byte of category and one of flags for each character.
struct Classes {
  enum Flag : std::uint8_t {
    kSpace = 1,
    kWord = 2,
    kNumber = 4,
    kPunctuated = 8,
    kAccent = 16,
    kBertAccent = 32,
    kBertControl = 64
  };
  std::vector<std::uint8_t> category, flags;

  Classes() : category(kPoints, kCn), flags(kPoints, 0) {
    for (const Run* run = std::begin(kCategories); run != std::end(kCategories); ++run) {
      const char32_t end = run + 1 == std::end(kCategories) ? kPoints : run[1].first;
      std::fill(category.begin() + run->first, category.begin() + end, run->category);
    }
    set(kWords, kWord), set(kNumeric, kNumber), set(kPunctuation, kPunctuated);
    set(kAccents, kAccent), set(kBertAccents, kBertAccent), set(kBertControls, kBertControl);
    constexpr Range kSpaces[] = {
        {0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
        {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
    set(kSpaces, kSpace);
  }
  template <std::size_t n>
  void set(const Range (&ranges)[n], Flag flag) {
    for (const Range& r : ranges) {
      for (char32_t c = r.first; c <= r.last; ++c) flags[c] |= flag;
    }
  }
};

const Classes& classes() {
  static const Classes all;
  return all;
}

bool has(char32_t c, Classes::Flag flag) { return c < kPoints && (classes().flags[c] & flag) != 0; }

icu::UnicodeString utf16(std::string_view text) {
  return icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
}

/// The forms of what Unicode 9 has; what it lacks is left as it is.
struct Forms {
  UErrorCode error = U_ZERO_ERROR;
  icu::UnicodeSet assigned{u"[:age=9.0:]", error};
  std::vector<std::unique_ptr<icu::FilteredNormalizer2>> all;
  Forms() {
    assigned.freeze();
    for (const auto* n :
         {icu::Normalizer2::getNFCInstance(error), icu::Normalizer2::getNFDInstance(error),
          icu::Normalizer2::getNFKCInstance(error), icu::Normalizer2::getNFKDInstance(error)}) {
      STRATA_CHECK(U_SUCCESS(error), "ICU has its normalisation data: {}", u_errorName(error));
      all.push_back(std::make_unique<icu::FilteredNormalizer2>(*n, assigned));
    }
  }
};

const icu::Normalizer2& normalizer_of(Form form) {
  static const Forms forms;
  return *forms.all[static_cast<std::size_t>(form)];
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
  };
  const char32_t a = byte(0);
  if (a < 0x80) return {a, 1};
  if (a < 0xe0) return {(a & 0x1f) << 6 | (byte(1) & 0x3f), 2};
  if (a < 0xf0) return {(a & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f), 3};
  return {(a & 7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f), 4};
}

CodePoint code_point_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return code_point_at(text, at);
}

void append(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  if (c < 0x10000) return put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f));
  put(0x80 | (c & 0x3f));
}

std::string well_formed(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t bad = first_invalid(text);
    if (bad == text.npos) return out += text, out;
    out += text.substr(0, bad);
    out += "\xef\xbf\xbd";
    text.remove_prefix(bad + 1);
  }
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

Category category(char32_t c) {
  return c < kPoints ? static_cast<Category>(classes().category[c]) : kCn;
}
bool is_letter(char32_t c) { return category(c) >= kLu && category(c) <= kLo; }
bool is_mark(char32_t c) { return category(c) >= kMn && category(c) <= kMe; }
bool is_number(char32_t c) { return category(c) >= kNd && category(c) <= kNo; }
bool is_punctuation_category(char32_t c) { return category(c) >= kPc && category(c) <= kPo; }
bool is_symbol(char32_t c) { return category(c) >= kSm && category(c) <= kSo; }
bool is_space(char32_t c) { return has(c, Classes::kSpace); }
bool is_word(char32_t c) { return has(c, Classes::kWord); }
bool is_numeric(char32_t c) { return has(c, Classes::kNumber); }
bool is_punctuation(char32_t c) { return has(c, Classes::kPunctuated); }
bool is_accent(char32_t c) { return has(c, Classes::kAccent); }
bool is_bert_accent(char32_t c) { return has(c, Classes::kBertAccent); }
bool is_bert_control(char32_t c) { return has(c, Classes::kBertControl); }

void append_lower(std::string& out, char32_t c) {
  if (c == 0x130) {  // the one whose lower case is two characters
    out += "i\xcc\x87";
    return;
  }
  const auto* run = std::upper_bound(std::begin(kLower), std::end(kLower), c,
                                     [](char32_t x, const LowerRun& r) { return x < r.first; });
  if (run != std::begin(kLower)) {
    --run;
    if (c <= run->last && (c - run->first) % run->step == 0)
      c = static_cast<char32_t>(static_cast<std::int32_t>(c) + run->difference);
  }
  append(out, c);
}

std::string normalize(std::string_view text, Form form) {
  if (is_ascii(text)) return std::string(text);
  UErrorCode error = U_ZERO_ERROR;
  const icu::UnicodeString normal = normalizer_of(form).normalize(utf16(text), error);
  STRATA_CHECK(U_SUCCESS(error), "well-formed text can be normalised: {}", u_errorName(error));
  std::string out;
  normal.toUTF8String(out);
  return out;
}

std::vector<std::size_t> grapheme_ends(std::string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), error));
  STRATA_CHECK(U_SUCCESS(error), "ICU has its break rules: {}", u_errorName(error));
  const icu::UnicodeString wide = utf16(text);
  breaks->setText(wide);
  std::vector<std::size_t> out;
  std::size_t bytes = 0;
  std::int32_t at = 0;
  for (std::int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
    for (; at < end; at = wide.moveIndex32(at, 1)) {
      const auto c = static_cast<char32_t>(wide.char32At(at));
      bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    out.push_back(bytes);
  }
  return out;
}

int unicode_age(char32_t c) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0];
}

int script(char32_t c) {
  if (c == ' ') return 0;
  if (c == 0x30fc) return USCRIPT_HAN + 1;
  UErrorCode error = U_ZERO_ERROR;
  const int found = uscript_getScript(static_cast<UChar32>(c), &error);
  if (U_FAILURE(error) || found == USCRIPT_UNKNOWN || unicode_age(c) > 9) return 0;
  return 1 + (found == USCRIPT_HIRAGANA || found == USCRIPT_KATAKANA ? USCRIPT_HAN : found);
}

}  // namespace strata::tokenizer
