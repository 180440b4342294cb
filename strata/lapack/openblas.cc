// What kernels use of OpenBLAS' LAPACK and BLAS, for f32, f64 and complex numbers of both.
#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "strata/lapack/routine.h"

// X(name of the real routine, of the complex one), without the letter of the type.
#define STRATA_LAPACK_ROUTINES(X) \
  X(gees, gees)                   \
  X(geev, geev)                   \
  X(gehrd, gehrd)                 \
  X(geqp3, geqp3)                 \
  X(geqrf, geqrf)                 \
  X(gesdd, gesdd)                 \
  X(getrf, getrf)                 \
  X(gtsv, gtsv)                   \
  X(orgqr, ungqr)                 \
  X(potrf, potrf)                 \
  X(syevd, heevd)                 \
  X(sytrd, hetrd)                 \
  X(trsm, trsm)

// Called through pointers of their own types (loop/kernel/linalg/large.h).
#define STRATA_DECLARE(real, complex) \
  void s##real##_(), d##real##_(), c##complex##_(), z##complex##_();
extern "C" {
STRATA_LAPACK_ROUTINES(STRATA_DECLARE)
void openblas_set_num_threads(int);
}

namespace strata::lapack {
namespace {

struct Named {
  std::string_view name;
  void (*address)();
};

#define STRATA_LIST(real, complex)                                                 \
  {"s" #real, s##real##_}, {"d" #real, d##real##_}, {"c" #complex, c##complex##_}, \
      {"z" #complex, z##complex##_},
constexpr Named kRoutines[] = {STRATA_LAPACK_ROUTINES(STRATA_LIST)};

}  // namespace

void* routine(std::string_view name) {
  // Debian's serial build has one thread; another build of the same library may stand in its place.
  static const bool told [[maybe_unused]] = (openblas_set_num_threads(1), true);
  const auto* it = std::find_if(std::begin(kRoutines), std::end(kRoutines),
                                [&](const Named& r) { return r.name == name; });
  return it == std::end(kRoutines) ? nullptr : reinterpret_cast<void*>(it->address);
}

std::mutex& internal::turn() {
  static std::mutex& mutex = *new std::mutex;  // threads may be in a call when the process ends
  // A thread that was in a call is not in the child, which would wait for it.
  static const int registered [[maybe_unused]] =
      pthread_atfork(nullptr, nullptr, [] { new (&mutex) std::mutex; });
  return mutex;
}

}  // namespace strata::lapack
