// Python's strings, for templates: counted in code points, cased and split as Python does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/tokenizer/chat_template/value.h"

namespace strata::tokenizer::jinja::python {

/// Bytes of the character at a place; 1 where the bytes are no UTF-8.
std::size_t character_length(std::string_view text, std::size_t at);
/// Of one character; its byte where it is no UTF-8.
char32_t code_point(std::string_view character);
std::string utf8(char32_t code);
/// len(): code points.
std::int64_t length(std::string_view text);
/// Where each code point begins, and the end.
std::vector<std::size_t> places(std::string_view text);
bool is_space(char32_t code);

Text repr(const Text& text);
/// Without `characters` (none: white space) at the ends that are asked for.
Text strip(const Text& text, const std::optional<std::string>& characters, bool left, bool right);
/// By white space where no separator is given, then without empty parts; at most `most` cuts, all
/// where negative; from the right end where `from_right`.
List split(const Text& text, const std::optional<std::string>& separator, std::int64_t most,
           bool from_right);
List split_lines(const Text& text, bool keep_ends);
/// The first `most` occurrences, all where negative.
Text replace(const Text& text, std::string_view old, const Text& with, std::int64_t most);

/// With &, <, >, " and ' as HTML entities; what is so already is left.
Text escape(const Text& text);

enum class Case { upper, lower, title, capital, swapped };
Text cased(const Text& text, Case to);
bool is_upper(std::string_view text);
bool is_lower(std::string_view text);
/// isdigit, isalpha, isalnum, isspace: of all characters, and there is one.
enum class Kind { digit, alpha, alnum, space };
bool is_all(std::string_view text, Kind kind);

}  // namespace strata::tokenizer::jinja::python
