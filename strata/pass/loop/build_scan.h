// Scans made from bodies that are not isolated yet.
#pragma once

#include "strata/op/control.h"

namespace strata::pass {

/// The scan whose iterations are `body`, which may use values from outside: they become consts of
/// it, but splats and few elements spread over many (where only kernels read those that compute
/// their operands), which the new body has for itself. `carried` and `sliced` are the arguments of
/// `body` for `carries` and the slices of `xs`; no other one is used.
ir::Values build_scan(ir::Builder& b, const ir::Block& body, const ir::Values& carried,
                      const ir::Values& carries, const ir::Values& sliced, const ir::Values& xs,
                      op::ScanOptions options);

}  // namespace strata::pass
