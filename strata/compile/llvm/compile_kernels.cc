#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <atomic>
#include <map>
#include <mutex>

#include "strata/base/check.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/emit_kernel.h"
#include "strata/compile/llvm/fingerprint.h"
#include "strata/compile/llvm/jit.h"

namespace strata::compile {
namespace {

/// Part of every key: goes up when the code for a kernel changes.
constexpr std::string_view kCodeVersion = "1";

/// What the code of a kernel depends on, in full.
std::string key_of(const loop::Kernel& kernel, const CpuTarget& target) {
  return fmt::format("{}\n{}\n{}\n", kCodeVersion, target.cpu, target.features) + fingerprint(kernel);
}

std::string make_code(const loop::Kernel& kernel, const std::string& symbol, const CpuTarget& target, bool assembly = false) {
  llvm::LLVMContext context;
  llvm::Module module(kernel.name, context);
  emit_kernel(kernel, module, symbol, target);
  return Jit::global().make_object(module, target, assembly);
}

struct MemoryCache {
  std::mutex mutex;
  std::map<std::string, KernelFn> functions;  // by key
  CompileCounts counts;
};
MemoryCache& memory_cache() {
  static MemoryCache& cache = *new MemoryCache;
  return cache;
}

/// One kernel whose code is not in memory.
struct Missing {
  const loop::Kernel* kernel;
  std::string key, symbol, object;
};

void make_missing(std::vector<Missing>& missing) {
  auto run = [](void* ctx, std::int64_t begin, std::int64_t) {
    Missing& m = (*static_cast<std::vector<Missing>*>(ctx))[static_cast<std::size_t>(begin)];
    m.object = make_code(*m.kernel, m.symbol, CpuTarget::host());
  };
  parallel_for(static_cast<std::int64_t>(missing.size()), 1, run, &missing);
}

}  // namespace

std::vector<KernelFn> compile_kernels(std::span<const loop::Kernel* const> kernels) {
  MemoryCache& cache = memory_cache();
  std::lock_guard lock(cache.mutex);
  std::vector<std::string> keys;
  std::vector<Missing> missing;
  std::map<std::string, KernelFn> fresh;
  for (const loop::Kernel* kernel : kernels) {
    keys.push_back(key_of(*kernel, CpuTarget::host()));
    const std::string& key = keys.back();
    if (cache.functions.contains(key)) {
      ++cache.counts.from_memory;
    } else if (fresh.emplace(key, nullptr).second) {
      missing.push_back({kernel, key, "kernel_" + digest(key), {}});
    }
  }
  if (!missing.empty()) {
    make_missing(missing);
    std::vector<std::string> objects, symbols;
    for (Missing& m : missing) {
      objects.push_back(std::move(m.object));
      symbols.push_back(m.symbol);
    }
    std::vector<void*> addresses = Jit::global().link(std::move(objects), symbols);
    for (std::size_t i = 0; i < missing.size(); ++i) cache.functions[missing[i].key] = reinterpret_cast<KernelFn>(addresses[i]);
    cache.counts.made += static_cast<std::int64_t>(missing.size());
  }
  std::vector<KernelFn> result;
  for (const std::string& key : keys) result.push_back(cache.functions.at(key));
  return result;
}

KernelFn compile_kernel(const loop::Kernel& kernel) {
  const loop::Kernel* one[] = {&kernel};
  return compile_kernels(one)[0];
}

KernelFn compile_kernel_for(const CpuTarget& target, const loop::Kernel& kernel) {
  static std::atomic<int> number{0};
  std::string symbol = fmt::format("single_kernel_{}", number++);
  return reinterpret_cast<KernelFn>(Jit::global().link(make_code(kernel, symbol, target), symbol));
}

std::string kernel_assembly(const CpuTarget& target, const loop::Kernel& kernel) { return make_code(kernel, "kernel", target, true); }

std::string kernel_llvm(const CpuTarget& target, const loop::Kernel& kernel) {
  llvm::LLVMContext context;
  llvm::Module module(kernel.name, context);
  emit_kernel(kernel, module, "kernel", target);
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

CompileCounts compile_counts() {
  std::lock_guard lock(memory_cache().mutex);
  return memory_cache().counts;
}

}  // namespace strata::compile
