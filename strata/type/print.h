// Types as people read them: "f32[2,3]", as JAX prints them (docs/decision/0029-one-notation.md).
//
//   std::cout << x.dtype() << " " << x.type();      // f32 f32[2,3]
//   fmt::print("{}", x.type());
//
// `Type::to_string` is the notation of programs' text, tensor<2x3xf32>.
#pragma once

#include <fmt/core.h>

#include <iosfwd>
#include <string>
#include <string_view>

#include "strata/type/type.h"

namespace strata {

/// "f32", "i1", "ui8", "c64": the enumerator.
std::string_view array_text(DType dtype);
/// "[2,3]", "[]", "[B,?]".
std::string array_text(const Shape& shape);
/// "f32[2,3]". What only programs have (tokens, quantised tensors, ...) reads as in their text.
std::string array_text(const Type& type);
/// A message with each tensor<2x3xf32> in it as f32[2,3].
std::string with_array_text(std::string_view message);

std::ostream& operator<<(std::ostream& out, DType dtype);
std::ostream& operator<<(std::ostream& out, const Type& type);

}  // namespace strata

template <>
struct fmt::formatter<strata::DType> : fmt::formatter<std::string_view> {
  fmt::format_context::iterator format(strata::DType dtype, fmt::format_context& to) const;
};
template <>
struct fmt::formatter<strata::Type> : fmt::formatter<std::string_view> {
  fmt::format_context::iterator format(const strata::Type& type, fmt::format_context& to) const;
};
