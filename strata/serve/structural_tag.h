// Answers of which parts have a form: free text, and behind a mark what the mark announces.
//
//   Grammar g = read_structural_tag({{"structures", {{{"begin", "<f>"}, {"schema", schema},
//                                                      {"end", "</f>"}}}},
//                                    {"triggers", {"<f"}}});
//
// Read are vLLM's older {"structures": [{"begin", "schema", "end"}], "triggers": [...]} and
// xgrammar's {"format": ...} of const_string, json_schema, grammar, regex, any_text, sequence, or,
// optional, plus, star, repeat, tag, triggered_tags and tags_with_separator. Formats over tokens
// are refused by name, and any_text where nothing says where it ends.
//
// Source: xgrammar's docs/structural_tag; as there, triggered_tags with at_least_one begin with a
// tag.
#pragma once

#include "strata/engine/grammar/grammar.h"
#include "strata/serve/json.h"

namespace strata::serve {

/// Of a structural tag with `structures` or `format`. Throws Error for what it is not.
engine::grammar::Grammar read_structural_tag(const Json& tag);

}  // namespace strata::serve
