// Operations between processes as compiled code does them: custom calls of handlers that meet the
// other devices of the launch (lockstep.h).
//
//   op::collective::to_calls(block, 1, 8);        // then compile it
//
// Moves become one call each. A sum that hardware adds becomes a call too; other computations
// (regions, minima of floats, bf16) are gathered by a call and combined by operations of the
// program, so that they are compiled with it. Order of combination: that of the group, from the
// left, as by reference.
#pragma once

#include "strata/op/def.h"

namespace strata::op::collective {

/// Whether the block, in nested regions too, holds operations that need to know of other devices:
/// collectives, partition_id, replica_id.
bool has_collectives(const Block& block);

/// All of them become calls for a grid of that size. Throws strata::Error for ids outside of the
/// grid; unsupported for send, recv, feeds and groups of several sizes where sizes matter.
void to_calls(Block& block, std::int64_t replicas, std::int64_t partitions);

}  // namespace strata::op::collective
