// How the values of a program are to be sharded over a grid of devices, and which may be addends.
//
//   Plan plan;
//   plan.values[x] = Layout{{{0}, {}}};           // rows over axis 0
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "strata/op/def.h"
#include "strata/op/reduce/combiner.h"
#include "strata/partition/grid.h"

namespace strata::spmd {

/// Axes along which the devices' values are to be combined to be the value: "unreduced" ones.
/// Inside a program a value may be addends where the plan says so (addends.h); at its borders and
/// at those of manual computations, which see them, it must.
struct Addends {
  Axes axes = {};
  op::Combiner combiner = op::Combiner::add;
};

/// The shardings of the body of an sdy.manual_computation: its operands and results outside, and
/// the axes over which it is written for one device.
struct ManualPlan {
  std::vector<Layout> operands, results;
  Axes axes;
  std::vector<Addends> operand_addends = {}, result_addends = {};  // by place, or none at all
};

/// How values are to be sharded.
struct Plan {
  /// Of the program's values; asked by value, never walked.
  std::unordered_map<const op::Value*, Layout> values;
  /// Of values that may be addends, likewise; not in `exact`.
  std::unordered_map<const op::Value*, Addends> addends = {};
  /// Of what the program returns: one entry for each result, or none at all. Where it is absent a
  /// result is sharded as its value is.
  std::vector<std::optional<Layout>> results;
  std::unordered_map<const op::Op*, ManualPlan> manual;
  /// Of the program's own arguments and results, by place, or none at all.
  std::vector<Addends> argument_addends = {}, result_addends = {};
};

struct PartitionOptions {
  /// Whether the bits must be those of the whole program.
  bool exact = false;
};

}  // namespace strata::spmd
