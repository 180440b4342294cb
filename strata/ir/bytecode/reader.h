// Reads programs in MLIR's bytecode: portable artifacts of StableHLO, as JAX gives them to a plugin
// and `jax.export` keeps them.
//
//   Result<std::unique_ptr<ir::Module>> m = ir::read_bytecode(bytes, "program.mlirbc");
//   if (!m) return fail(m.status());   // "program.mlirbc: byte 312: expected an attribute, found
//   the end"
//
// Versions 0 to 6 of the format; VHLO of the releases 0.9.0 to 1.20.0, builtin's modules, Shardy's
// meshes and shardings, and CHLO where it stands beside VHLO. What is read prints as the text of
// the same program: attributes that say the default are left out, the casts around operations of
// other dialects are gone. Orders of uses are skipped: a graph here has none. The place of an
// operation is the innermost line of a file that its location names, else the name that it has
// there. Status: Code::invalid for bytes that are damaged, Code::unsupported for what Strata does
// not have, as `parse` (text/parser.h) says it. Bytes of any kind are safe: what is counted, nested
// or filled has limits.
#pragma once

#include <memory>
#include <string_view>

#include "strata/base/result.h"
#include "strata/ir/text/parser.h"

namespace strata::ir {

/// Whether these are the first bytes of bytecode.
bool is_bytecode(std::string_view bytes);

Result<std::unique_ptr<Module>> read_bytecode(std::string_view bytes,
                                              std::string_view filename = "bytecode",
                                              const ParseOptions& options = {});

}  // namespace strata::ir
