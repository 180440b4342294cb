// Grammars as llama.cpp (GBNF) and xgrammar (EBNF) write them.
//
//   Grammar g = read_ebnf("root ::= \"yes\" | \"no\" [a-z]{1,3}");
//
// Rules are NAME ::= alternatives; an alternative is literals "...", classes [...] and [^...], a
// dot for any character, names, and groups, each with *, +, ?, {n}, {n,}, {,m} or {n,m}. A # begins
// a comment. The whole is the rule `root`. Look-ahead is refused.
//
// Deviation: a rule ends where the next one's name and ::= stand, wherever lines end.
#pragma once

#include <string_view>

#include "strata/engine/grammar/grammar.h"

namespace strata::engine::grammar {

/// Longest text of a grammar in bytes, and deepest group.
inline constexpr std::size_t kLongestGrammar = std::size_t{256} << 10;
inline constexpr int kDeepestGroup = 64;

/// Throws Error for what is no such grammar; it names the line.
Grammar read_ebnf(std::string_view text);

}  // namespace strata::engine::grammar
