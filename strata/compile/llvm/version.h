// Which LLVM makes the code.
#pragma once

#include <string>

namespace strata::compile {

/// "19.1.7"
std::string llvm_version();

}  // namespace strata::compile
