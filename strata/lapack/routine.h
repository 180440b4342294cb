// The door to LAPACK (docs/decision/0018-lapack.md).
#pragma once

#include <string_view>

namespace strata::lapack {

/// The address of a routine ("spotrf"): Fortran's calling convention, 32-bit integers, matrices
/// column by column; the lengths of texts follow the other arguments. Null for a name that is not
/// in openblas.cc's table, and for all names where a program holds no LAPACK. Routines run on the
/// thread that calls them, and on several threads at once.
void* routine(std::string_view name);

}  // namespace strata::lapack
