// Functions without a body, and meshes of devices: read, kept and printed; nothing runs them yet.
//
//   func.func private @f(tensor<4xf32>) -> tensor<4xf32>
//   sdy.mesh @mesh = <["x"=2, "y"=4]>
//
// Both are kept as attributes under names that no text can write: what a declaration returns with
// the function, a mesh with its module (meshes are printed first, in the order of their names).
#pragma once

#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::ir {

/// Makes a function that has arguments alone a declaration of one that returns `results`.
void declare(Function& function, const std::vector<Type>& results);
bool is_declaration(const Function& function);
/// What a call of the function returns, whether it has a body or not.
std::vector<Type> result_types(const Function& function);

struct Mesh {
  std::string name, text;  // `<["x"=2]>`
  std::string attributes;  // `{a = 1 : i64}`, or empty
};
void add_mesh(Module& module, Mesh mesh);
std::vector<Mesh> meshes(const Module& module);

/// The attributes that are attributes in the text.
Attrs text_attributes(const Function& function);
Attrs text_attributes(const Module& module);

}  // namespace strata::ir
