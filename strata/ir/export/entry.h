// An export as a program like any other: a module whose entry takes the inputs of the exported
// function, all of them and in their order, and returns its outputs.
//
//   Result<std::unique_ptr<ir::Module>> m = ir::read_exported(*e, "model.jax", "cpu");
//
// What JAX serialises differs from that in two ways: a program for several platforms takes the
// number of one of them in front, and inputs that the function does not use are left out.
#pragma once

#include "strata/ir/bytecode/reader.h"
#include "strata/ir/export/jax_export.h"
#include "strata/ir/graph.h"

namespace strata::ir {

/// The program for a platform. Like JAX's own call, one that was exported for others is refused
/// (Code::unsupported, with what to do), unless its export says that the platform is not to be
/// checked: then it is the program for the first one. Status: of the bytecode's reader;
/// Code::unsupported for ordered effects and for exports of several devices; Code::corrupt where
/// inputs, outputs and the program's entry do not fit together.
Result<std::unique_ptr<Module>> read_exported(const JaxExport& e, std::string_view filename,
                                              std::string_view platform,
                                              const ParseOptions& options = {});

}  // namespace strata::ir
