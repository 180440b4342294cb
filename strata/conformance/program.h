// Programs as files hold them: text, bytecode, exports of JAX.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/ir/graph.h"
#include "strata/ir/text/parser.h"

namespace strata::conformance {

using Part = ir::TextPart;
/// The programs of a file: one of bytecode, of an export and of a text without lines `// -----`.
std::vector<Part> split(std::string_view text);

/// Reads and verifies a part; messages name the line in the file. An export's entry takes the
/// inputs of the exported function (ir/export/entry.h), as it was lowered for `platform`.
Result<std::unique_ptr<ir::Module>> load(const Part& part, const std::string& filename,
                                         const std::string& platform = "cpu");

/// The functions to run: `name`; without one `main`, else `jit_main`, else every function without
/// arguments in order, else the module's entry. Empty for a module without functions; Code::invalid
/// when `name` is not there.
Result<std::vector<ir::Function*>> entries(const ir::Module& module, const std::string& name,
                                           const std::string& filename);

/// Whether printing the module and reading that again gives the same text; otherwise says where it
/// does not.
Status print_is_fixpoint(const ir::Module& module);

}  // namespace strata::conformance
