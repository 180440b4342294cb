// Machine code: the one door to LLVM.
//
//   KernelFn f = compile_kernel(kernel);
//   void* refs[] = {x, y};
//   f(refs, 0, kernel.grid);
//
// Kernels are known by their structure: the text of loop::print without the name, the processor and the version of the
// code generator. Code is looked for in memory, then on disk (code_cache.h), and only then made, on all threads of the
// pool. Code is never unloaded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/compile/llvm/target.h"
#include "strata/loop/loop.h"

namespace llvm {
class Module;
}

namespace strata::compile {

/// Runs grid points begin .. end - 1 on the buffers of the kernel's parameters, in their order.
using KernelFn = void (*)(void* const* refs, std::int64_t begin, std::int64_t end);

/// The code of these kernels, made in parallel, equal ones once. Throws InternalError if LLVM refuses.
std::vector<KernelFn> compile_kernels(std::span<const loop::Kernel* const> kernels);
KernelFn compile_kernel(const loop::Kernel& kernel);

/// The same for a processor of that name, past all caches: for tests. The host must be able to run it.
KernelFn compile_kernel_for(const CpuTarget& target, const loop::Kernel& kernel);
/// The assembly text of a kernel's code on that processor, and LLVM's text before the optimiser: to read.
std::string kernel_assembly(const CpuTarget& target, const loop::Kernel& kernel);
std::string kernel_llvm(const CpuTarget& target, const loop::Kernel& kernel);

/// What compilation has done in this process.
struct CompileCounts {
  std::int64_t made = 0, from_disk = 0, from_memory = 0;
};
CompileCounts compile_counts();

/// Modules in, addresses out. One per process.
class Jit {
 public:
  static Jit& global();

  /// Bytes of an object file. Safe to call from many threads, each with a module of its own context.
  std::string make_object(llvm::Module& module, const CpuTarget& target, bool assembly = false);
  /// Links an object whose symbols are new and gives the address of one of them.
  void* link(std::string object, const std::string& symbol);
  /// The same for several objects at once; one address each.
  std::vector<void*> link(std::vector<std::string> objects, const std::vector<std::string>& symbols);

 private:
  Jit();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::compile
