#include "strata/tokenizer/chat_template/python_text.h"

#include <fmt/format.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace strata::tokenizer::jinja::python {

std::size_t character_length(std::string_view text, std::size_t at) {
  std::int32_t i = 0;
  const auto left = static_cast<std::int32_t>(std::min<std::size_t>(text.size() - at, 4));
  UChar32 c = 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data() + at);
  U8_NEXT(bytes, i, left, c);
  return c < 0 ? 1 : static_cast<std::size_t>(i);
}
char32_t code_point(std::string_view character) {
  std::int32_t i = 0;
  UChar32 c = 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(character.data());
  U8_NEXT(bytes, i, static_cast<std::int32_t>(character.size()), c);
  return c < 0 ? static_cast<unsigned char>(character[0]) : static_cast<char32_t>(c);
}
std::string utf8(char32_t code) {
  std::string out;
  icu::UnicodeString(static_cast<UChar32>(code)).toUTF8String(out);
  return out;
}
std::int64_t length(std::string_view text) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < text.size(); i += character_length(text, i)) ++n;
  return n;
}
std::vector<std::size_t> places(std::string_view text) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < text.size(); i += character_length(text, i)) out.push_back(i);
  out.push_back(text.size());
  return out;
}
bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f) || c == 0x85 ||
         u_isUWhiteSpace(static_cast<UChar32>(c));
}

Text repr(const Text& text) {
  const bool single =
      text.bytes.find('\'') == std::string::npos || text.bytes.find('"') != std::string::npos;
  const char* quote = single ? "'" : "\"";
  Text out;
  out.append(quote, text.all_marked());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = character_length(text.bytes, i);
    const std::string_view c = std::string_view(text.bytes).substr(i, n);
    const char32_t code = code_point(c);
    std::string s(c);
    const auto wide = static_cast<std::uint32_t>(code);
    const bool printable =
        code == ' ' || !(u_charType(static_cast<UChar32>(code)) == U_CONTROL_CHAR ||
                         u_charType(static_cast<UChar32>(code)) == U_FORMAT_CHAR ||
                         u_charType(static_cast<UChar32>(code)) == U_SURROGATE ||
                         u_charType(static_cast<UChar32>(code)) == U_PRIVATE_USE_CHAR ||
                         u_charType(static_cast<UChar32>(code)) == U_UNASSIGNED ||
                         u_charType(static_cast<UChar32>(code)) == U_LINE_SEPARATOR ||
                         u_charType(static_cast<UChar32>(code)) == U_PARAGRAPH_SEPARATOR ||
                         u_charType(static_cast<UChar32>(code)) == U_SPACE_SEPARATOR);
    if (c == "\\" || c == quote)
      s = "\\" + s;
    else if (c == "\n")
      s = "\\n";
    else if (c == "\r")
      s = "\\r";
    else if (c == "\t")
      s = "\\t";
    else if (!printable)
      s = wide < 0x100     ? fmt::format("\\x{:02x}", wide)
          : wide < 0x10000 ? fmt::format("\\u{:04x}", wide)
                           : fmt::format("\\U{:08x}", wide);
    out.append(s, text.mark(i));
    i += n;
  }
  out.append(quote, text.all_marked());
  return out;
}

Text strip(const Text& text, const std::optional<std::string>& characters, bool left, bool right) {
  const auto goes = [&](std::size_t begin, std::size_t end) {
    const std::string_view c = std::string_view(text.bytes).substr(begin, end - begin);
    if (!characters) return is_space(code_point(c));
    for (std::size_t i = 0; i < characters->size();) {
      const std::size_t n = character_length(*characters, i);
      if (std::string_view(*characters).substr(i, n) == c) return true;
      i += n;
    }
    return false;
  };
  const std::vector<std::size_t> at = places(text.bytes);
  std::size_t begin = 0, end = at.size() - 1;
  while (left && begin < end && goes(at[begin], at[begin + 1])) ++begin;
  while (right && begin < end && goes(at[end - 1], at[end])) --end;
  return text.substr(at[begin], at[end] - at[begin]);
}

List split(const Text& text, const std::optional<std::string>& separator, std::int64_t most,
           bool from_right) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // begin, end
  const std::string_view s = text.bytes;
  if (separator) {
    if (separator->empty()) fail("empty separator");
    if (from_right) {
      std::size_t end = s.size();
      while (most-- != 0) {
        if (end < separator->size()) break;
        const std::size_t at = s.rfind(*separator, end - separator->size());
        if (at == std::string::npos) break;
        parts.emplace_back(at + separator->size(), end);
        end = at;
      }
      parts.emplace_back(0, end);
      std::reverse(parts.begin(), parts.end());
    } else {
      std::size_t begin = 0;
      while (most-- != 0) {
        const std::size_t at = s.find(*separator, begin);
        if (at == std::string::npos) break;
        parts.emplace_back(begin, at);
        begin = at + separator->size();
      }
      parts.emplace_back(begin, s.size());
    }
  } else {
    const std::vector<std::size_t> at = places(s);
    const auto space = [&](std::size_t i) {
      return is_space(code_point(s.substr(at[i], at[i + 1] - at[i])));
    };
    const std::size_t count = at.size() - 1;
    if (from_right) {
      std::size_t end = count;
      while (true) {
        while (end > 0 && space(end - 1)) --end;
        if (end == 0) break;
        std::size_t begin = end;
        if (most-- == 0)
          begin = 0;
        else
          while (begin > 0 && !space(begin - 1)) --begin;
        parts.emplace_back(at[begin], at[end]);
        end = begin;
      }
      std::reverse(parts.begin(), parts.end());
    } else {
      std::size_t begin = 0;
      while (true) {
        while (begin < count && space(begin)) ++begin;
        if (begin == count) break;
        std::size_t end = begin;
        if (most-- == 0)
          end = count;
        else
          while (end < count && !space(end)) ++end;
        parts.emplace_back(at[begin], at[end]);
        begin = end;
      }
    }
  }
  List out;
  for (const auto& [begin, end] : parts) out.push_back(text.substr(begin, end - begin));
  return out;
}

List split_lines(const Text& text, bool keep_ends) {
  List out;
  const std::string_view s = text.bytes;
  const auto ends = [](char32_t c) {
    return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
           c == 0x2029;
  };
  for (std::size_t begin = 0; begin < s.size();) {
    std::size_t end = begin;
    while (end < s.size() && !ends(code_point(s.substr(end, character_length(s, end)))))
      end += character_length(s, end);
    std::size_t next = end;
    if (next < s.size()) next += s.substr(next, 2) == "\r\n" ? 2 : character_length(s, next);
    out.push_back(text.substr(begin, (keep_ends ? next : end) - begin));
    begin = next;
  }
  return out;
}

Text replace(const Text& text, std::string_view old, const Text& with, std::int64_t most) {
  Text out;
  const std::string_view s = text.bytes;
  if (old.empty()) {
    const std::vector<std::size_t> at = places(s);
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (most-- != 0) out.append(with);
      if (i + 1 < at.size()) out.append(text.substr(at[i], at[i + 1] - at[i]));
    }
    return out;
  }
  std::size_t begin = 0;
  while (most-- != 0) {
    const std::size_t at = s.find(old, begin);
    if (at == std::string::npos) break;
    out.append(text.substr(begin, at - begin));
    out.append(with);
    begin = at + old.size();
    if (out.size() > (std::size_t{8} << 20)) fail("a string grows beyond 8 MiB");
  }
  out.append(text.substr(begin));
  return out;
}

Text escape(const Text& text) {
  if (text.is_markup) return text;
  Text out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes[i];
    const std::string s = c == '&'    ? "&amp;"
                          : c == '<'  ? "&lt;"
                          : c == '>'  ? "&gt;"
                          : c == '"'  ? "&#34;"
                          : c == '\'' ? "&#39;"
                                      : std::string(1, c);
    out.append(s, text.mark(i));
  }
  out.is_markup = true;
  return out;
}

Text cased(const Text& text, Case to) {
  Text out;
  out.is_markup = text.is_markup;
  bool after_cased = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = character_length(text.bytes, i);
    const std::string_view c = std::string_view(text.bytes).substr(i, n);
    const auto code = static_cast<UChar32>(code_point(c));
    icu::UnicodeString s(code);
    const bool first = to == Case::capital ? i == 0 : !after_cased;
    if (to == Case::upper || (to == Case::swapped && u_isULowercase(code)))
      s.toUpper(icu::Locale::getRoot());
    else if (to == Case::lower || to == Case::swapped || !first)
      s.toLower(icu::Locale::getRoot());
    else
      s.toTitle(nullptr, icu::Locale::getRoot());
    after_cased = u_hasBinaryProperty(code, UCHAR_CASED) != 0;
    std::string bytes;
    s.toUTF8String(bytes);
    out.append(bytes, text.mark(i));
    i += n;
  }
  return out;
}

namespace {

template <class F>
bool all_of(std::string_view text, F f) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = character_length(text, i);
    if (!f(static_cast<UChar32>(code_point(text.substr(i, n))))) return false;
    i += n;
  }
  return true;
}

}  // namespace

bool is_upper(std::string_view text) {
  bool cased = false;
  return all_of(text,
                [&](UChar32 c) {
                  if (u_isUUppercase(c)) return cased = true;
                  return u_hasBinaryProperty(c, UCHAR_CASED) == 0;
                }) &&
         cased;
}
bool is_lower(std::string_view text) {
  bool cased = false;
  return all_of(text,
                [&](UChar32 c) {
                  if (u_isULowercase(c)) return cased = true;
                  return u_hasBinaryProperty(c, UCHAR_CASED) == 0;
                }) &&
         cased;
}
bool is_all(std::string_view text, Kind kind) {
  return !text.empty() && all_of(text, [&](UChar32 c) {
    switch (kind) {
      case Kind::digit:
        return u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) == U_NT_DECIMAL ||
               u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) == U_NT_DIGIT;
      case Kind::alpha: return u_isalpha(c) != 0;
      case Kind::alnum:
        return u_isalpha(c) != 0 || u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE;
      default: return is_space(static_cast<char32_t>(c));
    }
  });
}

}  // namespace strata::tokenizer::jinja::python
