// Forward derivatives of blocks.
//
//   JvpResult r = jvp(b, f, {x, y}, {dx, nullptr});   // d(f)/dx . dx, and f, emitted into b
//
// A null tangent is zero; values that do not depend on an active operand are copied, and tangents
// of booleans and integers are always null. An operation without the rule throws strata::Error with
// the stated reason, unless none of its results could have a tangent.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// Emits `f` on `operands` and its derivative along `tangents` into `b`. `outer` maps values that
/// `f` uses from outside (they have no tangents); those it does not know stand for themselves.
JvpResult jvp(Builder& b, const Block& f, std::span<Value* const> operands,
              std::span<Value* const> tangents, ir::ValueMap outer = {});

/// A block of its own: arguments (primals..., tangents of the active arguments...), results
/// (results of f..., tangents of the results with `active`...).
struct JvpBlock {
  std::unique_ptr<Block> block;
  std::vector<bool> active;
};
/// `required`: results that get a tangent even where it is zero (empty: none).
JvpBlock jvp(const Block& f, const std::vector<bool>& active,
             const std::vector<bool>& required = {});

/// Which results have tangents when the arguments with `active` do.
std::vector<bool> active_results(const Block& f, const std::vector<bool>& active);

}  // namespace strata::op
