// Functions of machine code by key: looked for in memory, then on disk, then made.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/compile/llvm/target.h"

namespace llvm {
class Module;
}

namespace strata::compile {

/// One function. `key` says everything its code depends on, `target` and the version of the
/// generator excepted.
struct CodeUnit {
  std::string key;
  std::string kind;  // begins its symbol: "kernel", "driver"
  std::function<void(llvm::Module& module, const std::string& symbol)> emit;
  const CpuTarget* target = &CpuTarget::host();
};

/// The name under which the code is linked.
std::string symbol_of(const CodeUnit& unit);

/// Code, one per unit; of equal keys once, the missing ones made in parallel. Units may call each
/// other and earlier ones by `symbol_of`. Code is unloaded with its last handle: whoever runs a
/// unit holds those of the units that it calls, too.
std::vector<std::shared_ptr<void>> code_for(std::span<const CodeUnit> units);

/// An object or assembly text, past all caches.
std::string make_code(const CodeUnit& unit, const std::string& symbol, bool assembly);
/// LLVM's text before the optimiser.
std::string make_llvm(const CodeUnit& unit, const std::string& symbol);

}  // namespace strata::compile
