// The door to LAPACK (docs/decision/0018-lapack.md).
#pragma once

#include <mutex>
#include <string_view>

namespace strata::lapack {

/// The address of a routine ("spotrf"): Fortran's calling convention, 32-bit integers, matrices
/// column by column; the lengths of texts follow the other arguments. Null for a name that is not
/// in openblas.cc's table, and for all names where a program holds no LAPACK. Routines run on the
/// thread that calls them; only `call` may call one.
void* routine(std::string_view name);

namespace internal {
/// Held while a routine runs.
std::mutex& turn();
}  // namespace internal

/// Calls the routine at `address`, after the calls of all other threads of the process have ended:
/// Debian's serial OpenBLAS hands out its work space without a lock, so that two calls at once
/// write over each other's numbers. It holds for a library that STRATA_LAPACK names, too.
template <class... Args>
void call(void* address, Args... args) {
  const std::lock_guard<std::mutex> alone(internal::turn());
  reinterpret_cast<void (*)(Args...)>(address)(args...);
}

}  // namespace strata::lapack
