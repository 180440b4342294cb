// A foreign call in words, and the handlers of those that were met: what foreign.cc and
// foreign_resolve.cc share.
#pragma once

#include <string>
#include <string_view>

#include "strata/op/foreign.h"

namespace strata::op::foreign {

/// The attribute by which a resolved custom call states its call.
inline constexpr const char* kStated = "strata.call";

/// In MLIR's spelling: `{attributes} aliases : (operands) -> results`. Equal calls have equal
/// words.
std::string words_of(const Call& call);
/// The inverse; a check fails for words that are none.
Call call_of(std::string_view words);

}  // namespace strata::op::foreign
