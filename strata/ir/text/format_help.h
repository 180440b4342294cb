// Pieces that formats share: between StableHLO's packed attributes and ours.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"

namespace strata::ir {

/// The generic form with the attributes and regions as they are, to start a `to_generic` from.
GenericForm plain_form(const Op& op);

/// `name` becomes the word of `#stablehlo<kind WORD>`; a string stays. Fails for another attribute, and when it is absent though required.
void enum_from_generic(TextParser& p, Draft& draft, const std::string& name, std::string_view kind, std::initializer_list<std::string_view> words, bool required);
/// "LT" -> #stablehlo<comparison_direction LT>.
void enum_to_generic(Attrs& attrs, const std::string& name, std::string_view kind);

/// Fails unless the attribute is there and a list of integers; older text's dense<[1, 2]> : tensor<2xi64> becomes one.
void need_ints(TextParser& p, Draft& draft, const std::string& name);
void need_integer(TextParser& p, const Draft& draft, const std::string& name);
/// `8 : i32` becomes an integer.
void integer_from_i32(TextParser& p, Draft& draft, const std::string& name);

/// The fields of `#stablehlo.gather<offset_dims = [0], index_vector_dim = 1>`; an integer is a list of one.
using Fields = std::map<std::string, Ints, std::less<>>;
Fields struct_fields(TextParser& p, const Draft& draft, const std::string& attribute, std::string_view prefix);
/// The inverse: "[..]" for lists that are not empty, as upstream leaves out the others.
void append_field(std::string& fields, std::string_view name, const Ints& values);
void append_field(std::string& fields, std::string_view name, std::int64_t value);

}  // namespace strata::ir
