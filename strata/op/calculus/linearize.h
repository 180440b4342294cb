// Splitting the derivative of a block into what is known at a point and what is linear in the
// tangents.
//
//   LinearBlock l = linearize(b, f, {x, y}, {true, false});
//   Values dz = ir::inline_block(b, *l.linear, {dx});
//
// Each operation's jvp rule is run on tangents that stand for themselves; what it emits is then
// sorted: operations that depend on a tangent are the linear part, all others are computed at once.
// Operations with regions bring a rule of their own (OpDef::linearize), since dependence cannot be
// read off their outside.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

struct LinearBlock {
  /// The results of the block, emitted into the builder.
  Values results;
  /// Which of them have a tangent that is not zero.
  std::vector<bool> active;
  /// Arguments: tangents of the active operands; results: tangents of the active results; both in
  /// order. What it captures are the residuals: values emitted into the builder, or operands.
  std::unique_ptr<Block> linear;
};

/// Emits the known part of `f` on `operands` into `b`. `outer` as in `jvp`.
LinearBlock linearize(Builder& b, const Block& f, std::span<Value* const> operands,
                      const std::vector<bool>& active, ir::ValueMap outer = {});

/// Makes what a block captures smaller: constants, and cheap operations on less than they result in
/// (broadcasts, conversions to a wider type), are repeated inside. `linearize` does this already.
void shrink_residuals(Block& block);

}  // namespace strata::op
