#include "strata/compile/llvm/version.h"

#include <llvm/Config/llvm-config.h>

namespace strata::compile {

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace strata::compile
