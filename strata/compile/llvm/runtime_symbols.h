// Functions that generated code may call by name.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace strata::compile {

/// Name and address of each, in order of name.
std::vector<std::pair<std::string, void*>> runtime_symbols();

/// Adds one (before the first kernel that calls it is compiled); a name is given once.
void add_runtime_symbol(const std::string& name, void* address);

}  // namespace strata::compile
