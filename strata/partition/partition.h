// One program over many devices: the program that each of them runs.
//
//   Plan plan;
//   plan.values[x] = Layout{{{0}, {}}};           // rows over axis 0
//   Partitioned p = partition(f.body, grid, plan);
//
// Every operation is computed on parts where its sharding factors (op/def.h) and its local rule
// (local.h) allow that; what has no rule is computed whole on every device, of gathered operands.
// So every program of static shapes partitions, and annotations decide what it costs, not what it
// gives. Values that the plan does not name keep the sharding that their operation gives.
//
// Arrays need not divide (grid.h): sums and products over a dimension with a short last tile see
// its neutral element there.
//
// Bits: integers, minima, maxima and whatever no sum is cut of are those of the whole program. A
// sum of floats over a cut dimension adds up the devices' sums in the order of their tiles; with
// `exact` no such sum is cut (its operands are gathered), and all bits are the whole program's.
#pragma once

#include <memory>
#include <vector>

#include "strata/op/def.h"
#include "strata/partition/emit.h"
#include "strata/partition/plan.h"

namespace strata::spmd {

/// The program of one device, which asks partition_id who it is.
struct Partitioned {
  std::unique_ptr<op::Block> body;
  std::vector<Layout> arguments, results;
  std::vector<Move> moves;  // in the order of the program
};

/// Throws strata::Error (unsupported) for dynamic shapes, and for operations between processes
/// (collectives outside of an sdy.manual_computation, send, infeed) where there are devices to
/// share them.
Partitioned partition(const op::Block& whole, const Grid& grid, const Plan& plan,
                      const PartitionOptions& options = {});

}  // namespace strata::spmd
