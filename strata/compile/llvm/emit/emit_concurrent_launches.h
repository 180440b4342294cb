// ConcurrentLaunches of launches as tables that the runtime walks (strata_run_strands in
// runtime_functions.h): a strand more costs rows, and nothing to compile.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// What strands need of the driver that they stand in.
struct StrandsNeeds {
  llvm::BasicBlock* entry;                             // for memory of the driver's frame
  std::function<llvm::Value*(PlanBuffer::Kind)> list;  // as of a table (emit_launches.h)
  std::function<llvm::Constant*(int)> callee;          // a kernel's function
};

/// Prints the call at the builder's place.
void emit_concurrent_launches(const Plan& plan, const ConcurrentLaunches& strands,
                              const StrandsNeeds& needs, llvm::IRBuilder<>& b);

}  // namespace strata::compile
