// Attributes as text.
//
// What Strata has a kind for becomes that kind (`3 : i64`, `true`, "text", array<i64: 1, 2>, ["a",
// "b"], f32, tensor<4xf32>, dense<...>, 1.0 : f64); everything else is carried as `Opaque` in the
// spelling MLIR would print.
#pragma once

#include <map>
#include <string>

#include "strata/ir/attr.h"
#include "strata/ir/text/cursor.h"

namespace strata::ir {

/// `#name = attribute` lines at the top of a file, resolved where they are used.
using AttrAliases = std::map<std::string, Attr, std::less<>>;

Attr parse_attr(Cursor& c, const AttrAliases& aliases);
/// What stands between braces, the opening one consumed: `a = 1 : i64, "b c" = 2 : i64, unit}`.
Attrs parse_attr_entries(Cursor& c, const AttrAliases& aliases);

/// As MLIR prints it. `in_list`: the types i64 and f64 are left out.
std::string attr_text(const Attr& attr, bool in_list = false);
/// "{a = 1 : i64, b}".
std::string attrs_text(const Attrs& attrs);
/// A string in quotes, with MLIR's escapes.
std::string quoted(std::string_view text);
/// A symbol after '@', in quotes where it is no plain word.
std::string symbol_text(std::string_view name);

}  // namespace strata::ir
