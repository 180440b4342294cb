// A foreign call in words, and the handlers of those that were met: what foreign.cc and
// foreign_resolve.cc share.
#pragma once

#include <string>
#include <string_view>

#include "strata/op/foreign/handler.h"

namespace strata::op::foreign {

/// The attribute by which a resolved custom call states its call.
inline constexpr const char* kStated = "strata.call";

/// In MLIR's spelling: `{attributes} aliases : (operands) -> results`. Equal calls have equal
/// words.
std::string words_of(const Call& call);
/// The inverse; a check fails for words that are none.
Call call_of(std::string_view words);

/// The elements of "[dense<[0, 1]> : tensor<2xindex>, ...]", or of
/// "[#stablehlo.output_operand_alias<...>, ...]": brackets outside of angle brackets hold the list,
/// commas part it. Views of `list`.
std::vector<std::string_view> list_elements(std::string_view list);

}  // namespace strata::op::foreign
