// Gather and scatter along a dimension that is cut: every device looks up, or writes, what is in
// its part.
//
// Indices become places in the part. A gather makes rows of other devices -0 (zeros of integers),
// so that adding up gives each row its owner's bits; a scatter drops updates that are outside,
// which is what it does anyway. Source:
// shardy/dialect/sdy/transforms/export/convert_global_to_local.cc.
#pragma once

#include <optional>

#include "strata/op/index/indexing.h"
#include "strata/partition/emit.h"

namespace strata::spmd {

/// The one dimension of the operand that a gather or scatter of one index component looks up, a
/// place at a time.
struct Lookup {
  int dim = 0;
  bool is_gather = true;
  op::IndexDims dims;
};
std::optional<Lookup> lookup_of(const op::Op& op);

/// Indices into the device's part of a dimension of `size` elements cut over `owners`; and, of a
/// gather, whether they are inside.
struct LocalIndices {
  op::Value *indices = nullptr, *inside = nullptr;
};
LocalIndices local_indices(op::Builder& b, Emitter& emit, const Grid& grid, op::Value* indices,
                           std::int64_t size, const Axes& owners, bool is_gather);
/// The gathered rows, of which those that are not here are nothing.
op::Value* rows_inside(op::Builder& b, op::Value* rows, op::Value* inside, const Lookup& lookup);

}  // namespace strata::spmd
