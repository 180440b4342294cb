// Reductions of rows between whose elements those of other rows are in memory: groups of a few
// channels, rows of a transposed array.
//
// Neighbours in memory, a line of them, are taken to lines of partial results: as many lines as a
// row has lanes (op/reduce/reduce_order.h) are taken in turn, so that each lane of a row has a
// place of its own, and only at a chunk's end are they combined. Nothing is put together or turned
// before (8 x 3136 x 32 x 4 f32 over the second and the last dimension: 2.4 ms put together, 0.8
// so; 64 x 65536 f32, transposed, over the last: 7.9 ms, 0.5; two threads of a Zen 3).
#pragma once

#include <optional>
#include <span>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// As build_reductions (reduce_kernel.h), of rows with lanes; nothing where they are not so.
std::optional<Built> reduce_strided_rows(std::span<const ir::Op* const> ops, const Fusion& fusion,
                                         bool any_size);

}  // namespace strata::compile
