// Regular expressions as grammars.
//
//   Grammar g;
//   g.define(g.root(), regex(g, "[A-Z]{2}\\d+"));
//
// What is read is what ECMA-262 and Python's `re` mean alike: literals, ., classes, \d \w \s \D \W
// \S, \t \n \v \f \r \0, \xHH, \uHHHH, \u{...}, groups (named, non-capturing), |, * + ? {n} {n,}
// {n,m}, lazy ones too, as they match the same texts, and ^ $ at the ends of alternatives.
// Look-around, back references, \b, possessive and atomic groups, \p{...} and flags are refused by
// name.
//
// Where the two differ, a text has to be what both mean: \d, \D, \w and \W are of ASCII, \s is the
// spaces of ASCII, \S what is no space of Unicode, a dot no line end of Unicode.
#pragma once

#include <functional>
#include <string_view>

#include "strata/engine/grammar/grammar.h"

namespace strata::engine::grammar {

/// How characters are written: as they are, or within a string of JSON.
using WriteCharacters = std::function<Grammar::Node(const CharacterSet&)>;

struct RegexOptions {
  /// Whether the whole text matches; else some part of it, as JSON Schema's `pattern` means.
  bool whole = true;
  /// Letters of ASCII in any case.
  bool any_case = false;
  /// Empty: as UTF-8.
  WriteCharacters write = {};
};
/// Throws Error for what is no regular expression, is refused, is longer than 64 KiB or nested
/// deeper than 64; it names the place.
Grammar::Node regex(Grammar& grammar, std::string_view pattern, const RegexOptions& options = {});

/// The characters between [ and ], where `at` is behind [ and moves behind ]: as in a regular
/// expression.
CharacterSet read_class(std::string_view pattern, std::size_t& at);

}  // namespace strata::engine::grammar
