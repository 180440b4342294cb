// Prints a plan's steps as one LLVM function `void symbol(const RunContext*)`.
//
// Loops and branches of the plan are loops and branches of the function; a launch puts its
// addresses in a slot of the stack and calls the kernel, through strata_parallel_for where the
// launch is parallel. Long rows of launches are a table (emit_launches.h).
#pragma once

#include <string>
#include <vector>

#include "strata/compile/llvm/emit/inlined_launches.h"
#include "strata/compile/plan/plan.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace strata::compile {

/// `kernels[k]` is the symbol of kernel k, as far as it is called: launches that are `inlined` need
/// none. With `timed`, every launch calls
/// strata_profile_begin/end with its number, in the order in which launches stand in the plan.
llvm::Function* emit_driver(const Plan& plan, const InlinedLaunches& inlined,
                            const std::vector<std::string>& kernels, llvm::Module& module,
                            const std::string& symbol, bool timed);

}  // namespace strata::compile
