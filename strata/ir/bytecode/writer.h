// Writes programs as portable artifacts of StableHLO, in MLIR's bytecode, so that JAX and XLA read
// them.
//
//   Result<std::string> bytes = ir::write_bytecode(module, {.release = "1.13.0"});
//
// Of version 6 of the format, and of the release asked for: an operation, type or attribute that it
// did not have is an error that names it. Operations of Shardy and CHLO stand beside VHLO's between
// casts, with their attributes as text. Places of operations are not written. Status:
// Code::unsupported for what has no form there (operations and types of Strata's own: the pass
// `export` gives most of them one), Code::invalid for a release that is none.
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/ir/graph.h"

namespace strata::ir {

struct BytecodeOptions {
  std::string release = "1.17.0";  // from 1.10.0 to 1.20.0
};

Result<std::string> write_bytecode(const Module& module, const BytecodeOptions& options = {});

}  // namespace strata::ir
