// Partitions dynamic_slice and dynamic_update_slice along a sharded dimension, such as the
// positions of a KV cache: each device slices, or updates, only the rows of its own shard.
//
// A slice is added up over the devices, rows of others being -0 (zeros of integers), so that each
// row has its owner's bits; an update is written by its owner, with no exchange at all.
#pragma once

#include <optional>

#include "strata/partition/emit.h"

namespace strata::spmd {

/// Dimensions of which a slice or update has not all elements; none for other operations.
std::vector<int> moving_dims(const op::Op& op);

/// A part of an array of `size` rows along `dim`, cut over `axes`.
struct OwnedPart {
  op::Value* x;
  int dim;
  std::int64_t size;
  const Axes& axes;
};
/// The slice of `sizes` at `starts` (one scalar per dimension, clamped as dynamic_slice does), on
/// every device.
op::Value* slice_of_parts(op::Builder& b, Emitter& emit, const OwnedPart& part, op::Values starts,
                          const std::vector<std::int64_t>& sizes);
/// The part after `update` (whole along `dim`) was written at `starts`.
op::Value* updated_part(op::Builder& b, Emitter& emit, const OwnedPart& part, op::Value* update,
                        op::Values starts);

}  // namespace strata::spmd
