// Which attributes the operations of bytecode have, in which release of StableHLO, and how VHLO's
// attributes differ from those of text. The one place where operations of a portable artifact are
// named: properties are written without their names, in alphabetical order, and what text leaves
// out because it is the default is there.
//
//   vhlo.gather_v2 -> stablehlo.gather, {collapsed_slice_dims, index_vector_dim, ...}
//
// An operation `vhlo.NAME_vN` is `stablehlo.NAME` (`func.call` and `return` apart); one without a
// row has one release and no attributes of its own. Source: StableHLO's VhloOps.td,
// VhloToVersionPatterns.td, and the defaults of VhloLegalizeToStablehlo.cpp (releases 0.9.0
// to 1.20.0); Shardy's and CHLO's ops.td.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/ir/attr.h"

namespace strata::ir::bytecode {

/// A release of StableHLO.
struct Release {
  int major = 0, minor = 0;
  auto operator<=>(const Release&) const = default;
};
inline constexpr Release kOldestRelease{0, 9}, kNewestRelease{1, 20};

/// "StableHLO_v1.17.0" or "1.17.0"; nothing for another text.
std::optional<Release> parse_release(std::string_view text);

struct Property {
  std::string_view name;
  bool is_optional = false;
  bool operator==(const Property&) const = default;
};
/// The properties of an operation as the bytecode names it ("vhlo", "gather_v2"), in their order;
/// nothing for an unknown one.
std::optional<std::vector<Property>> properties_of(std::string_view dialect, std::string_view name);
/// What a later version of the operation has beside them: a program that says more than their
/// defaults needs that version.
std::vector<std::string_view> later_properties(std::string_view dialect, std::string_view name);

/// "stablehlo.gather" of ("vhlo", "gather_v2"); "sdy.mesh" of ("sdy", "mesh").
std::string operation_of(std::string_view dialect, std::string_view name);
/// "gather_v2" of "stablehlo.gather" for a reader of that release; nothing when it had none.
std::optional<std::string> vhlo_name(std::string_view operation, Release release);

/// How an attribute of VHLO becomes that of text.
enum class Form : std::uint8_t {
  same,
  list,         // a tensor of one dimension: a list of numbers
  flags,        // a tensor of truth values: the same, 0 or 1
  symbol,       // a string: @name
  symbols,      // strings: [@a, @b]
  api_version,  // its own enumeration: a number of i32
  flag,         // a truth value: kept when true
};
enum class Default : std::uint8_t {
  none,
  zero,
  minus_one,
  no,              // false
  empty,           // [] {} "" or a list without elements
  said,            // an empty text, which text shows all the same
  ones,            // of a list that is not empty
  zeros,           // of a tensor that is not empty
  nos,             // likewise
  two_precisions,  // [DEFAULT, DEFAULT]
  no_type,         // the comparison type NOTYPE
  first_api,       // version 1
  none_type,       // the type none
  accuracy,        // of any element
};
struct AttributeRule {
  std::string_view name;
  Form form = Form::same;
  Default otherwise = Default::none;
  std::string_view operation = {};  // the rule is of this one alone
  std::string_view blank = "[]";    // the default `empty` as text, of one that is no list
};
/// Whether a version of the operation ("stablehlo.gather") has the attribute; what else it carries
/// is somebody's note, kept as it is.
bool has_property(std::string_view operation, std::string_view attribute);
/// The rule of an attribute; one without a rule is the same in both.
const AttributeRule* rule_of(std::string_view operation, std::string_view attribute);

/// VHLO's attributes of an operation, as they were read, into those of its generic form (format.h);
/// throws strata::Error.
void from_vhlo(std::string_view operation, Attrs& attrs);

}  // namespace strata::ir::bytecode
