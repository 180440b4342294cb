// Constants as text: dense<1.0>, dense<[[1, 2], [3, 4]]>, dense<"0x0000803F...">.
#pragma once

#include <string>
#include <string_view>

#include "strata/ir/text/cursor.h"
#include "strata/type/literal.h"

namespace strata::ir {

/// What follows `dense`: "<...> : tensor<...>". Values are checked against shape and dtype; bytes
/// count against the cursor's budget before they are allocated.
Literal parse_dense(Cursor& c);
/// "<...>" after `dense`, without the brackets.
std::string_view dense_body(Cursor& c);
/// The elements between `dense<` and its end, once the type is known.
Literal parse_elements(std::string_view body, std::size_t offset_of_body, Cursor& outer,
                       const Type& type);

/// The type, if a constant may have it; fails otherwise.
Type constant_type(Cursor& c, Type type, std::size_t where);
/// Pairs of hexadecimal digits as bytes; false when there is another character.
bool hex_bytes(std::string_view digits, std::byte* to);

/// "dense<...>" as MLIR prints it (without the type): one value for a splat, a nested list up to
/// 100 elements, hexadecimal bytes beyond.
std::string dense_text(const Literal& value);
void append_dense(const Literal& value, std::string& out);

}  // namespace strata::ir
