// No LAPACK: the plugin needs the C library alone, so that its plain kernels do matrices of all
// sizes.
#include "strata/lapack/routine.h"

namespace strata::lapack {

void* routine(std::string_view) { return nullptr; }

std::mutex& internal::turn() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace strata::lapack
