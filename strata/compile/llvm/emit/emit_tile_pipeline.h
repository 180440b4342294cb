// A chain of launches as one function over its parts.
#pragma once

#include <llvm/IR/Module.h>

#include <functional>
#include <vector>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// The places that a chain needs from its driver, in the order of launches and their arguments: all
/// but those in scratch.
std::vector<const Address*> pipeline_arguments(const Plan& plan, const TilePipeline& pipeline);

/// A function (places, begin, end) that runs parts [begin, end), one after another, each through
/// all launches. A launch is given a buffer in scratch as if the whole of it lay so that the part's
/// own place in it is the scratch.
llvm::Function* emit_tile_pipeline(const Plan& plan, const TilePipeline& pipeline,
                                   llvm::Module& module,
                                   const std::function<llvm::Value*(int)>& callee);

}  // namespace strata::compile
