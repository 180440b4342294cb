// Prints a loop::Kernel as an LLVM function.
//
// The function is `void symbol(void* const* refs, std::int64_t begin, std::int64_t end)`: it runs
// the grid points begin .. end - 1 on the buffers of the kernel's parameters, in their order. Every
// instruction means exactly what loop.h says, so the bits are those of loop::interpret:
//   - values of `lanes` elements are LLVM vectors of that many, which the code generator splits to
//   the machine's width;
//   - a `vector` loop is a loop of whole strips and one strip under a mask, the latter only where
//   the extent can leave
//     a rest;
//   - an address is contiguous in the lane, the same for all lanes, or else a gather;
//   - locals are stack slots, which SROA makes registers.
//
// A buffer the kernel reads and one it writes may be the same memory if they have the same type and
// size and begin together: a strip is then computed in place, in the kernel's own order of loads
// and stores. Other buffers, where one of them is written, do not overlap.
#pragma once

#include <string_view>

#include "strata/compile/llvm/target.h"
#include "strata/loop/loop.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace strata::compile {

/// Says for which processor a function is.
void set_target(llvm::Function& function, const CpuTarget& target);

llvm::Function* emit_kernel(const loop::Kernel& kernel, llvm::Module& module,
                            std::string_view symbol, const CpuTarget& target);

}  // namespace strata::compile
