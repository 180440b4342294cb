// Programs of dynamic shapes, for the arguments at hand: every shape static, so that they compile.
//
//   transform::refine(module, arguments);   // of the module's entry
//
// Types of arguments and the values of small integers among them determine the shapes
// (op/shape/refine.h says how). Calls are inlined first. A program whose shapes are static stays as
// it is, but for that.
#pragma once

#include "strata/ir/graph.h"
#include "strata/op/shape/refine.h"
#include "strata/type/literal.h"

namespace strata::transform {

/// Whether a shape in the block is not static.
bool is_dynamic(const ir::Block& block);

/// The block for these arguments; calls must have been inlined. Throws strata::Error as op::refine
/// does.
std::unique_ptr<ir::Block> refine(const ir::Block& block, const std::vector<op::Known>& arguments);
std::unique_ptr<ir::Block> refine(const ir::Block& block, const std::vector<Literal>& arguments);
/// Refines a function of the module in place (null: its entry).
void refine(ir::Module& module, const std::vector<Literal>& arguments,
            ir::Function* function = nullptr);

}  // namespace strata::transform
