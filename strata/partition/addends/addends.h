// Values of which devices hold addends: what may be computed on these, how they are combined, and
// how a value becomes them.
//
//   %1 = dot_general(x, w)              x and w cut over y along the contraction
//   %2 = constraint %1 unreduced={y}    each device keeps its own product: no collective
//   %3 = add(%2, %2)                    on addends
//   %4 = constraint %3                  one all-reduce over y
//
// A program says so by `unreduced` of a sharding. It is leave, not a command, but for arguments,
// results and manual computations: a value that no sum was cut of stays whole on every device, and
// one that is used by what addends do not allow is combined first. So values do not depend on it
// beyond the order of a sum.
//
// Source: shardy docs/sharding_representation.md ("unreduced"), sdy's replicated_to_unreduced and
// sharded_to_unreduced (the first device along an axis, or who owns a tile, keeps the value).
#pragma once

#include "strata/partition/emit.h"
#include "strata/partition/plan.h"

namespace strata::spmd {

/// Whether both are over the same axes and combined alike.
bool same_addends(const Addends& a, const Addends& b);
/// Whether each axis of `a` is in `b`.
bool within(const Axes& a, const Axes& b);
/// Whether no axis is in both.
bool disjoint(const Axes& a, const Axes& b);

/// Says of every value in the program whether it may be addends, from those of which `plan` knows:
/// what a constraint alone uses, and what loops carry where it enters and leaves an iteration so.
void spread_addends(const op::Block& block, Plan& plan);

/// Whether an operation on addends gives addends of its result: of no operands, of those that are
/// addends, or where the others become addends, too (all but the places of an update).
enum class Kept { no, of_some, of_all };
/// The operands marked in `are_addends` (at least one) are combined by `combiner`.
Kept kept_by(const op::Op& op, const std::vector<bool>& are_addends, op::Combiner combiner);

/// Devices' addends combined, with a reduce-scatter for those axes by which `to` (null: nothing)
/// cuts `layout` further: that is updated. `whole` is the type of all of it.
op::Value* combine_addends(op::Builder& b, Emitter& emit, const Grid& grid, op::Value* x,
                           const Type& whole, Layout& layout, Addends addends, const Layout* to);

/// `x` in layout `from` as addends in layout `to`: whoever owns a tile keeps it, along other axes
/// the first device keeps the value, and the rest is the combiner's initial value.
op::Value* to_addends(op::Builder& b, Emitter& emit, const Grid& grid, op::Value* x,
                      const Type& whole, const Layout& from, const Layout& to,
                      const Addends& addends);

}  // namespace strata::spmd
