// Grammars as Lark writes them.
//
//   Grammar g = read_lark("start: \"n=\" INT\n%import common.INT");
//
// Rules are name: alternatives, terminals NAME: alternatives; an alternative is strings "..." and
// "..."i, ranges "a".."z", expressions /.../ and /.../i, names, groups (...) and [...] (which may
// be missing), each with *, +, ?, ~n or ~n..m. What %ignore names may stand before and behind each
// terminal of a rule. %import takes the usual terminals of `common`. Aliases (-> name), priorities
// and the marks ? and ! say nothing about texts. Templates, %declare, %override and %extend are
// refused.
//
// Deviation: texts are read character by character, without Lark's lexer, which would take the
// longest terminal: where a text can be cut in several ways, each counts.
#pragma once

#include <string_view>

#include "strata/engine/grammar/grammar.h"

namespace strata::engine::grammar {

/// Throws Error for what is no such grammar; it names the line.
Grammar read_lark(std::string_view text);
/// Whether a text is Lark's rather than EBNF: no ::= stands in it.
bool looks_like_lark(std::string_view text);

}  // namespace strata::engine::grammar
