// Machine code for kernels.
//
//   KernelFn f = compile_kernel(kernel);
//   void* refs[] = {x, y};
//   f(refs, 0, kernel.grid);
//
// Kernels are known by their structure (fingerprint.h). Code is looked for in memory, then on disk
// (code_cache.h), and only then made, on all threads of the pool. Kernels that were asked for one
// by one, here, are never unloaded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strata/compile/llvm/code_units.h"
#include "strata/compile/llvm/target.h"
#include "strata/loop/loop.h"

namespace strata::compile {

/// Runs grid points begin .. end - 1 on the buffers of the kernel's parameters, in their order.
using KernelFn = void (*)(void* const* refs, std::int64_t begin, std::int64_t end);

/// The code of these kernels, made in parallel, equal ones once. Throws InternalError if LLVM
/// refuses.
std::vector<KernelFn> compile_kernels(std::span<const loop::Kernel* const> kernels);
KernelFn compile_kernel(const loop::Kernel& kernel);

/// The kernel as a unit of code; it and the target must outlive the unit.
CodeUnit kernel_unit(const loop::Kernel& kernel, const CpuTarget& target = CpuTarget::host());

/// Code for a processor of that name, past all caches: for tests. The host must be able to run it.
KernelFn compile_kernel_for(const CpuTarget& target, const loop::Kernel& kernel);
/// The assembly text of a kernel's code on that processor, and LLVM's text before the optimiser: to
/// read.
std::string kernel_assembly(const CpuTarget& target, const loop::Kernel& kernel);
std::string kernel_llvm(const CpuTarget& target, const loop::Kernel& kernel);

}  // namespace strata::compile
