// Any text up to one of some strings, as a grammar.
//
//   Grammar g;
//   const auto rest = g.add_rule("rest");
//   g.define(rest, g.text("4"));
//   g.define(g.root(), free_until(g, {{"x = ", rest}}, true));
//   Automaton(g).accepts("so x = 4")                      // true
//   Automaton(g).accepts("so x = 5")                      // false
//   Automaton(g).accepts("so what")                       // true
//
// Source: Aho and Corasick (1975); each state of their automaton is a rule that ends with the next.
#pragma once

#include <string>
#include <vector>

#include "strata/engine/grammar/grammar.h"

namespace strata::engine::grammar {

/// A string that ends free text, and what comes behind it.
struct FreeEnd {
  std::string text;
  Grammar::Rule next;
};

/// Any bytes in which none of the strings stands, then one of them and what comes behind it; where
/// `may_end`, the text may also end before. Of strings that end at the same place each may be
/// meant. Throws Error for an empty string, and for more than 16 KiB of them.
Grammar::Node free_until(Grammar& grammar, const std::vector<FreeEnd>& ends, bool may_end);
/// The same where the strings count at the text's beginning alone: any text that does not begin
/// with one of them, or one of them and what comes behind it.
Grammar::Node free_unless_begun(Grammar& grammar, const std::vector<FreeEnd>& begins);

}  // namespace strata::engine::grammar
