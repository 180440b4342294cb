// JSON Schemas as grammars: every text of the grammar is JSON that the schema accepts.
//
//   Grammar g = parse_json_schema(R"({"type": "object", "properties": {"n": {"type":
//   "integer"}}})"); Automaton(g).accepts(R"({"n": 3})")                   // true
//
// Properties come in the order in which the schema names them. As upstream's strict mode, an object
// with `properties` has no others unless additionalProperties says so, and an array with
// `prefixItems` no further items unless `items` says so. Where no type is named, keywords that
// speak of some types mean these.
//
// Followed: type, enum, const, $ref into the schema itself, $defs, definitions, anyOf, allOf, oneOf
// of alternatives that exclude each other by type or by a constant; properties, required,
// additionalProperties, one pattern in patternProperties, minProperties and maxProperties; items,
// prefixItems, additionalItems, minItems, maxItems; minLength, maxLength, or pattern, or format
// (date, time, date-time, duration, email, hostname, ipv4, ipv6, uri, uuid, json-pointer); minimum,
// maximum, both exclusive ones, multipleOf of integers. A keyword that cannot be followed exactly
// is an Error that names it; words that are no keywords of JSON Schema say nothing, as its
// specification has it.
//
// Source: JSON Schema 2020-12; xgrammar's json_schema_converter for what a grammar can say.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "strata/engine/grammar/grammar.h"
#include "strata/engine/grammar/json_text.h"

namespace strata::engine::grammar {

/// Throws Error for what is no schema, is longer than 256 KiB or deeper than 64, for a keyword that
/// is not followed, and for a schema that nothing fits.
Grammar read_json_schema(const nlohmann::ordered_json& schema, JsonStyle style = {});
Grammar parse_json_schema(std::string_view schema, JsonStyle style = {});
/// Any object.
Grammar any_json_object(JsonStyle style = {});

/// A schema as a part of a grammar that holds other things too.
Grammar::Node add_json_schema(Grammar& grammar, JsonText& text,
                              const nlohmann::ordered_json& schema);

}  // namespace strata::engine::grammar
