// Maps and reductions of rows that are short, such as pairs and points in space: lanes run along
// the rows, and the elements of a row are written out one after the other.
#pragma once

#include <optional>

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// Kernels for a group, with one value per row or without, where that is less work than
/// `by_elements`, which does the same with lanes along the elements; else nothing. What each
/// element is (which part of a concatenation, which word of a key) is known then, and one value per
/// row is computed in lanes, too; but elements of neighbouring rows are apart: of rows of up to
/// four machine code reads and writes all that is between, of longer ones it reads and writes one
/// by one; rows of 8 to 32 that are reduced use squares, which are turned in registers (softmax
/// of 100000 rows of 16: 0.65 ms with lanes along each row, 0.23 so). (Of 8: 1.02 ms one by one
/// with AVX2, 0.52 so.) Where lanes would cross an outer dimension, such as that of the first of
/// two arrays of which each pair is a row, strips end there (2000 x 1500 boxes by pairs: 7.2 ms
/// across, 2.5 so; two threads of a Zen 3). Rows may have been joined to a longer dimension since.
std::optional<Built> build_small_inner_dim(const Group& group, const Fusion& fusion,
                                           const CpuTarget& target,
                                           const loop::Kernel& by_elements);

}  // namespace strata::compile
