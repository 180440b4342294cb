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

/// `name` becomes the word of `#stablehlo<kind WORD>`; a string stays. Fails for another attribute,
/// and when it is absent though required.
void enum_from_generic(TextParser& p, Draft& draft, const std::string& name, std::string_view kind,
                       std::initializer_list<std::string_view> words, bool required,
                       std::string_view dialect = "stablehlo");
/// "LT" -> #stablehlo<comparison_direction LT>.
void enum_to_generic(Attrs& attrs, const std::string& name, std::string_view kind,
                     std::string_view dialect = "stablehlo");

/// `precision_config`: [#stablehlo<precision HIGH>, ...], [HIGH, DEFAULT] of the short form, and
/// words (Strings).
void precision_from_generic(TextParser& p, Draft& draft, std::string_view dialect = "stablehlo");
void precision_to_generic(Attrs& attrs, std::string_view dialect = "stablehlo");
/// ", precision = [HIGH, DEFAULT]", nothing when absent; and what follows the word `precision`.
void print_precision(TextPrinter& p, const Op& op);
void parse_precision(TextParser& p, Draft& draft);

/// Fails unless the attribute is there and a list of integers; older text's dense<[1, 2]> :
/// tensor<2xi64> becomes one.
void need_ints(TextParser& p, Draft& draft, const std::string& name);
void need_integer(TextParser& p, const Draft& draft, const std::string& name);
/// `8 : i32` becomes an integer.
void integer_from_i32(TextParser& p, Draft& draft, const std::string& name);

/// Fails unless the attribute is absent or a truth value.
void optional_flag(TextParser& p, const Draft& draft, const char* name);
/// `padding = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>` (absent: stays so) is kept as the list 1,
/// 2, 3, 4.
void padding_from_generic(TextParser& p, Draft& draft);
void padding_to_generic(Attrs& attrs);
/// `combiner` from the draft's one region: a word, and the region is dropped, or "region". `pair`:
/// whether there is one operand to combine, so that a word may do.
void combiner_from_generic(TextParser& p, Draft& draft, bool pair);
/// The inverse, in a form that `plain_form` made.
void combiner_to_generic(GenericForm& form, const Op& op);

/// The fields of `#stablehlo.gather<offset_dims = [0], index_vector_dim = 1>`; an integer is a list
/// of one.
using Fields = std::map<std::string, Ints, std::less<>>;
Fields struct_fields(TextParser& p, const Draft& draft, const std::string& attribute,
                     std::string_view prefix);
/// The inverse: "[..]" for lists that are not empty, as upstream leaves out the others.
void append_field(std::string& fields, std::string_view name, const Ints& values);
void append_field(std::string& fields, std::string_view name, std::int64_t value);

}  // namespace strata::ir
