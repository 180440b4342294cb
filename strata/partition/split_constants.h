// Constants with a copy for each operation that uses them, so that two users do not agree on a
// sharding by way of a zero that they share.
//
//   std::unique_ptr<ir::Function> split = split_constants(f);
//
// A constant, an iota and what broadcasts, reshapes, slices or elementwise operations make of them
// is copied to each of its other users; scalars are not, since nothing cuts them. Source:
// shardy/dialect/sdy/transforms/import/constant_or_scalar_splitter.cc.
#pragma once

#include <memory>

#include "strata/ir/graph.h"

namespace strata::spmd {

/// The function with its constants split; attributes and names are kept.
std::unique_ptr<ir::Function> split_constants(const ir::Function& f);

}  // namespace strata::spmd
