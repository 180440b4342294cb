#include "strata/ir/read.h"

#include "strata/ir/bytecode/reader.h"
#include "strata/ir/export/jax_export.h"

namespace strata::ir {

bool is_binary(std::string_view bytes) { return is_bytecode(bytes) || is_jax_export(bytes); }

Result<std::unique_ptr<Module>> read(std::string_view bytes, std::string_view filename,
                                     const ParseOptions& options) {
  if (is_bytecode(bytes)) return read_bytecode(bytes, filename, options);
  if (!is_jax_export(bytes)) return parse(bytes, filename, options);
  Result<JaxExport> e = read_jax_export(bytes, filename);
  if (!e) return e.status();
  return read_bytecode(e->program, filename, options);
}

}  // namespace strata::ir
