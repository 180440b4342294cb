// Reads what `jax.export.export(jax.jit(f))(...).serialize()` writes: a program in bytecode and how
// it is called.
//
//   Result<ir::JaxExport> e = ir::read_jax_export(bytes, "model.jax");
//   auto module = ir::read_bytecode(e->program, "model.jax");
//   e->inputs[e->kept[0]]   // "[0]['w']": what the program's first argument is among the arguments
//   in Python
//
// A FlatBuffer without an identifier. Source: jax/_src/export/serialization.fbs and
// serialization.py of JAX 0.10.2, versions 2 to
// 11. Shardings and derivatives are not read. entry.h makes a program like any other of it.
// Leaves of custom nodes are named by their position, as `jax.tree_util.keystr` does it for nodes
// without keys. Status: Code::corrupt for damaged bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/type.h"

namespace strata::ir {

struct JaxExport {
  std::string function;  // its name in Python
  std::vector<std::string> inputs,
      outputs;  // the path of each leaf: positional arguments "[0]['w']", named ones "['x']"
  std::vector<Type> input_types,
      output_types;  // open dimensions by JAX's expressions: "b", "2*b + 1"; keys as their words
  std::vector<int> kept;               // the inputs that the program takes, in its order
  std::vector<std::string> platforms;  // for which it was lowered; of several, the program takes
                                       // the number of one in front
  std::vector<std::string> ordered_effects;  // a token each, in front of arguments and results
  std::int64_t devices = 1;                  // over how many it was lowered
  bool any_platform = false;   // whether it says that the platform is not to be checked
  int calling_convention = 0;  // JAX's number for all this
  std::string_view program;    // bytecode, inside the bytes that were read
};

/// Whether the bytes are such an export: its tables are whole and hold a program.
bool is_jax_export(std::string_view bytes);

/// Of bytes that begin as an export does and are none: that they are cut short or damaged
/// (Code::corrupt).
Status broken_jax_export(std::string_view bytes, std::string_view filename);

Result<JaxExport> read_jax_export(std::string_view bytes, std::string_view filename = "export");

}  // namespace strata::ir
