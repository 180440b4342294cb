// Whose LAPACK a program's own calls of it (lapack_*_ffi, as JAX writes them) are: that of the room
// `lapack`, or of a shared library that the environment names, opened at the first use.
//
//   STRATA_LAPACK=liblapack.so.3 strata-run program.mlir
//
// Without that variable and that room (in the PJRT plugin) there is none, whatever is installed:
// its bits differ from library to library, and what a program gives must not depend silently on the
// machine. Its arithmetic runs on one thread where the library can be told so.
#pragma once

#include <string>

#include "strata/base/result.h"

namespace strata::op::lapack {

/// The address of a routine ("spotrf"): Fortran's calling convention, 32-bit integers. Thread-safe.
Result<void*> routine(const std::string& name);

}  // namespace strata::op::lapack
