// ConcurrentLaunches of launches as tables that the runtime walks (strata_run_streams in
// runtime_functions.h): a stream more costs rows, and nothing to compile.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// What streams need of the driver that they stand in.
struct StreamsNeeds {
  llvm::BasicBlock* entry;                             // for memory of the driver's frame
  std::function<llvm::Value*(PlanBuffer::Kind)> list;  // as of a table (emit_launches.h)
  std::function<llvm::Constant*(int)> callee;          // a kernel's function
};

/// Prints the call at the builder's place.
void emit_concurrent_launches(const Plan& plan, const ConcurrentLaunches& streams,
                              const StreamsNeeds& needs, llvm::IRBuilder<>& b);

}  // namespace strata::compile
