// Maps of rows that are made differently here and there: arrays that are joined, padded or rolled
// along a dimension. Where lanes run across a joint each would ask on which side of it it is;
// between joints nobody asks, so that what runs along memory is copied as such (1088 x 100 x 5 f32
// with a mirrored element at both ends of the middle dimension, two threads of a Zen 5: 0.26 ms by
// strips, 0.026 so).
#pragma once

#include "strata/compile/fuse/access_strides.h"

namespace strata::compile {

/// Kernels for a group without rows of its own that is not linear and has joints; nothing where
/// pieces would be too small, or too much code beside that of `by_elements`, which does the same
/// strip by strip. Strips of `lanes`.
std::optional<Built> build_piecewise_rows(const Group& group, const Fusion& fusion, int lanes,
                                          const loop::Kernel& by_elements);

}  // namespace strata::compile
