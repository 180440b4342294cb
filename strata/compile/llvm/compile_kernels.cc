#include "strata/compile/llvm/compile_kernels.h"

#include <fmt/format.h>

#include <atomic>

#include "strata/compile/llvm/emit/emit_kernel.h"
#include "strata/compile/llvm/fingerprint.h"
#include "strata/compile/llvm/jit.h"

namespace strata::compile {
namespace {

/// The address, for as long as the process lives.
void* for_ever(std::shared_ptr<void> code) {
  return (*new std::shared_ptr<void>(std::move(code))).get();
}

}  // namespace

CodeUnit kernel_unit(const loop::Kernel& kernel, const CpuTarget& target) {
  auto emit = [&kernel, &target](llvm::Module& module, const std::string& symbol) {
    emit_kernel(kernel, module, symbol, target);
  };
  return {fingerprint(kernel), "kernel", emit, &target};
}

std::vector<KernelFn> compile_kernels(std::span<const loop::Kernel* const> kernels) {
  std::vector<CodeUnit> units;
  for (const loop::Kernel* kernel : kernels) units.push_back(kernel_unit(*kernel));
  std::vector<KernelFn> functions;
  for (auto& code : code_for(units))
    functions.push_back(reinterpret_cast<KernelFn>(for_ever(std::move(code))));
  return functions;
}

KernelFn compile_kernel(const loop::Kernel& kernel) {
  const loop::Kernel* one[] = {&kernel};
  return compile_kernels(one)[0];
}

KernelFn compile_kernel_for(const CpuTarget& target, const loop::Kernel& kernel) {
  static std::atomic<int> number{0};
  std::string symbol = fmt::format("single_kernel_{}", number++);
  return reinterpret_cast<KernelFn>(
      for_ever(Jit::global().link(make_code(kernel_unit(kernel, target), symbol, false), symbol)));
}

std::string kernel_assembly(const CpuTarget& target, const loop::Kernel& kernel) {
  return make_code(kernel_unit(kernel, target), "kernel", true);
}

std::string kernel_llvm(const CpuTarget& target, const loop::Kernel& kernel) {
  return make_llvm(kernel_unit(kernel, target), "kernel");
}

}  // namespace strata::compile
