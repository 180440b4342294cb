#include "strata/ir/read.h"

#include "strata/base/file.h"
#include "strata/base/file_kind.h"
#include "strata/ir/bytecode/reader.h"
#include "strata/ir/export/jax_export.h"

namespace strata::ir {
namespace {

constexpr std::string_view kForms =
    "a program is StableHLO as text (func.func @main ...) or bytecode, or what jax.export "
    "serialises";

/// Whether a text has anything of a program in it, so that its reader's words are of use.
bool looks_like_program(std::string_view text) {
  for (std::string_view word : {"func.func", "builtin.module", "func @", "module {", "module @"})
    if (text.find(word) != text.npos) return true;
  return false;
}

/// Whether no text can be read: some byte of it is none of a text's.
bool is_no_text(std::string_view bytes) {
  return bytes.find('\0') != bytes.npos || bytes.starts_with("#!") || !unpacks(bytes).empty();
}

Status no_program(std::string_view bytes, std::string_view filename) {
  return Status(Code::invalid, "{}: no program, but {}; {}", filename, file_kind(bytes, filename),
                kForms);
}

}  // namespace

bool is_binary(std::string_view bytes) { return is_bytecode(bytes) || is_jax_export(bytes); }

Result<std::string> read_program_file(const std::string& path) {
  auto bytes = read_file(path);
  if (bytes || bytes.status().code() != Code::invalid) return bytes;
  const char* what = file_exists(path + "/manifest.json") ? "a checkpoint's folder"
                     : file_exists(path + "/checkpoints") ? "a run's folder"
                                                          : "a folder";
  return Status(Code::invalid, "{}: no program, but {}; {}", path, what, kForms);
}

Result<std::unique_ptr<Module>> read(std::string_view bytes, std::string_view filename,
                                     const ParseOptions& options) {
  if (is_bytecode(bytes)) return read_bytecode(bytes, filename, options);
  if (!is_jax_export(bytes)) {
    if (Status s = broken_jax_export(bytes, filename); !s.ok()) return s;
    if (is_no_text(bytes)) return no_program(bytes, filename);
    auto parsed = parse(bytes, filename, options);
    if (parsed || parsed.status().code() != Code::invalid || looks_like_program(bytes))
      return parsed;
    return Status(Code::invalid, "{}; this is {}; {}", parsed.status().message(),
                  file_kind(bytes, filename), kForms);
  }
  Result<JaxExport> e = read_jax_export(bytes, filename);
  if (!e) return e.status();
  return read_bytecode(e->program, filename, options);
}

}  // namespace strata::ir
