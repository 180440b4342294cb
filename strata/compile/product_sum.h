// Scans that sum products of their turns (pass/accumulating_scan.h) as one kernel: blocks of the
// sums stay in the first cache through all turns, and go side by side.
#pragma once

#include <optional>

#include "strata/compile/kernel_build.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// The kernel of such a scan; nothing for any other.
std::optional<Built> build_product_sum(const ir::Op& op, const Fusion& fusion,
                                       const CpuTarget& target);

}  // namespace strata::compile
