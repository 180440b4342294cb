// Reads a program in whatever form it is kept: text, bytecode, or an export of JAX, told apart by
// their first bytes.
//
//   Result<std::unique_ptr<ir::Module>> m = ir::read(bytes, "model.jax");
//
// Status: as the reader of each form says it (text/parser.h, bytecode/reader.h,
// export/jax_export.h); of what is none of them, what it is instead. Nothing is verified.
#pragma once

#include "strata/ir/text/parser.h"

namespace strata::ir {

/// Whether this is a program in one of the forms that are not text.
bool is_binary(std::string_view bytes);

/// The bytes of a program's file; of a folder, says that it is none. Status: as of `read_file`.
Result<std::string> read_program_file(const std::string& path);

Result<std::unique_ptr<Module>> read(std::string_view bytes, std::string_view filename = "program",
                                     const ParseOptions& options = {});

}  // namespace strata::ir
