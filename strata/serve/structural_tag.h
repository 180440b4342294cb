// Answers of which parts have a form: free text, and behind a mark what the mark announces.
//
//   Grammar g = read_structural_tag({{"structures", {{{"begin", "<f>"}, {"schema", schema},
//                                                      {"end", "</f>"}}}},
//                                    {"triggers", {"<f"}}});
//
// Read are vLLM's older {"structures": [{"begin", "schema", "end"}], "triggers": [...]} and
// xgrammar's {"format": ...} of const_string, json_schema, grammar, regex, any_text, sequence, or,
// optional, plus, star, repeat, tag, triggered_tags, tags_with_separator and dispatch, and over
// special tokens token, any_tokens, token_triggered_tags and token_dispatch. Refused by name are
// exclude_token, tokens that are not special, and any_text where nothing says where it ends.
//
// Grammars are of bytes: a special token that a tag names stands in them as a mark that no text
// has (`token_mark`), which a vocabulary gives to the token (`Vocabulary::with_marks`). Those that
// are not named may not be drawn.
//
// Source: xgrammar's docs/structural_tag; as there, triggered_tags with at_least_one begin with a
// tag.
#pragma once

#include <functional>
#include <string>

#include "strata/engine/grammar/grammar.h"
#include "strata/serve/json.h"

namespace strata::serve {

/// The text of a special token that a tag names by its text or its number. Throws Error for what is
/// none.
using TokenText = std::function<std::string(const Json& token)>;
/// Of a structural tag with `structures` or `format`. Throws Error for what it is not, and for
/// formats over tokens where `text_of` is empty.
engine::grammar::Grammar read_structural_tag(const Json& tag, const TokenText& text_of = {});
/// Whether a tag has a format over tokens.
bool names_tokens(const Json& tag);

}  // namespace strata::serve
