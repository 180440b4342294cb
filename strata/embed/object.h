// Programs compiled to object files, ahead of time.
//
//   Object o = compile_object(*Program::load("digits.jax"), {.name = "digits", .object =
//   "digits.o"}); write_file_atomic("digits.o", o.object); write_file_atomic("digits.h", o.header);
#pragma once

#include <string>
#include <vector>

#include "strata/api/program.h"

namespace strata::embed {

struct ObjectOptions {
  std::string name;               // a C identifier; it begins all names that others see
  std::string cpu = "x86-64-v3";  // as compile/llvm/target.h names processors
  std::vector<Type> inputs;       // static types, for a program with open dimensions
  std::string source, object;     // names of files, for the header's first lines
};

struct Object {
  std::string object, header;
};

/// The program's bits are those of a Program that runs in memory, whatever the processor;
/// docs/exceptions.md applies. Throws strata::Error where shapes are not fixed, or something has no
/// machine code.
Object compile_object(const Program& program, const ObjectOptions& options);

}  // namespace strata::embed
