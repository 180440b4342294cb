// Elements as JSON and back: one line each, as JSONL files hold them.
//
//   element_of_json(R"({"text": "a", "n": 3})", "notes.jsonl:1")     // a dict of a text and i64
//   json_of(Element::dict({{"n", 3}}))                              // {"n":3}
//
// Arrays are written as nested lists, bytes as {"$base64": "..."}, which is read as bytes again.
// Numbers that are not finite have no form in JSON and are written as null.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/data/element.h"

namespace strata::data {

/// Code::corrupt for what is no JSON; `where` begins the message. Nested 256 deep at most.
Result<Element> element_of_json(std::string_view json, const std::string& where);
/// On one line, without spaces.
std::string json_of(const Element& element);

}  // namespace strata::data
