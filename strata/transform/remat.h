// Rematerialisation, and its end.
#pragma once

#include <string>

#include "strata/ir/graph.h"

namespace strata::transform {

/// The same program as one strata.remat operation (its policies: op/control.h).
std::unique_ptr<ir::Block> remat(const ir::Block& f, const std::string& policy = "nothing");

/// Whether the operation only calls its first region, which has the operation's operands as
/// arguments: what `expand` replaces.
bool is_expandable(const ir::Op& op);

/// Replaces operations that only matter to transforms (remat, custom_jvp, custom_vjp) by what they
/// compute, in nested regions too. Run before compiling, after all differentiation. Throws
/// strata::Error on a derivative that cannot be computed.
void expand(ir::Block& block);

}  // namespace strata::transform
