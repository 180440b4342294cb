// The one door to LLVM's code generator and linker. Kernels and drivers come in by
// compile_kernels.h and compile_plan.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "strata/compile/llvm/target.h"

namespace llvm {
class Module;
}

namespace strata::compile {

/// What compilation has done in this process, in functions.
struct CompileCounts {
  std::int64_t made = 0, from_disk = 0, from_memory = 0;
};
CompileCounts compile_counts();

/// Modules in, addresses out. One per process.
class Jit {
 public:
  static Jit& global();

  /// Bytes of an object file, or assembly text. Safe to call from many threads, each with a module
  /// of its own context. Throws InternalError if LLVM refuses the module.
  std::string make_object(llvm::Module& module, const CpuTarget& target, bool assembly = false);
  /// Code at an address. It is unloaded with its last handle: whoever runs it, or code that calls
  /// it, holds one.
  using Code = std::shared_ptr<void>;
  /// Links an object whose symbols are new and gives the address of one of them.
  Code link(std::string object, const std::string& symbol);
  /// The same for several objects at once, which may need each other; one address each.
  std::vector<Code> link(std::vector<std::string> objects, const std::vector<std::string>& symbols);

 private:
  Jit();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::compile
