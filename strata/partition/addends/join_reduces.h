// All-reduces at one place of a device's program become one, so that devices meet once for many
// arrays.
//
//   %2 = all_reduce(%0)                          %2, %3 = all_reduce(%0, %1)
//   %3 = all_reduce(%1)                  ->
//
// Source: XLA's AllReduceCombiner. Deviation: only neighbours are joined, with nothing but
// constants and reshapes between them, so that none waits for a computation that it came before.
#pragma once

#include <cstdint>

#include "strata/op/def.h"

namespace strata::spmd {

/// Joins those of one combiner, one element type and one set of groups, up to `most` bytes each.
/// Elements have the bits that they had. Returns how many were joined with one before.
int join_all_reduces(op::Block& block, std::int64_t most = std::int64_t{30} << 20);

}  // namespace strata::spmd
