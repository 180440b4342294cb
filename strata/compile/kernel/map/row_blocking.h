// Maps of rows of a few elements that are no whole strips: as many rows together as make whole
// strips, each of which has code of its own. What a lane reads is known then as so many elements
// from where the block begins, so that machine code reads what is between and leaves out the rest
// (llvm/memory.h), instead of each lane for itself (bytes of 16 x 224 x 224 x 3 scaled by channel
// to f32: 0.86 ms with lanes along rows, 0.36 so; two threads of a Zen 3).
#pragma once

#include "strata/compile/fuse/access_strides.h"

namespace strata::compile {

/// Kernels for a group without rows of its own that is not linear, where the last of its joined
/// `dimensions` is so short; else nothing. `by_elements` does the same strip by strip.
std::optional<Built> build_row_blocks(const Group& group, const Fusion& fusion,
                                      const JoinedDimensions& dimensions,
                                      const loop::Kernel& by_elements);

}  // namespace strata::compile
