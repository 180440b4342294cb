// Maps of rows of a few elements that are no whole strips: as many rows together as make whole strips, each of which has code of its own. What a lane reads is known then as so many
// elements from where the block begins, so that machine code reads what lies between and leaves out the rest (llvm/memory.h), instead of each lane for itself.
#pragma once

#include "strata/compile/group_reads.h"

namespace strata::compile {

/// Kernels for a group without rows of its own that is not linear, where the last of its joined `dimensions` is so short; else nothing. `by_elements` does the same strip by strip.
std::optional<Built> build_row_blocks(const Group& group, const Fusion& fusion, const JoinedDimensions& dimensions, const loop::Kernel& by_elements);

}  // namespace strata::compile
