// Scans that sum products of their iterations (pass/loop/accumulating_scan.h) as one kernel: blocks
// of the sums stay in the first cache through all iterations, and go side by side.
#pragma once

#include <optional>

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// The kernel of such a scan; nothing for any other.
std::optional<Built> build_accumulating_scan_gemm(const ir::Op& op, const Fusion& fusion,
                                                  const CpuTarget& target);

}  // namespace strata::compile
