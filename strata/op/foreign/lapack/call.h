// What the routines share: the parts of a call to lapack_*_ffi, and batches of matrices.
//
// Matrices are column-major (the call's layouts say so), batches before them. An operand that is
// overwritten is aliased by the result, so that the result's memory is where it is found.
#pragma once

#include <algorithm>
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "strata/lapack/routine.h"
#include "strata/op/foreign/foreign.h"
#include "strata/op/foreign/foreign_attributes.h"
#include "strata/op/foreign/lapack/library.h"

namespace strata::op::lapack {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool is_complex_number = !std::is_same_v<T, Real<T>>;

template <class T>
inline constexpr char kLetter = 's';
template <>
inline constexpr char kLetter<double> = 'd';
template <>
inline constexpr char kLetter<std::complex<float>> = 'c';
template <>
inline constexpr char kLetter<std::complex<double>> = 'z';
/// "getrf" as the routine for matrices of T is called: "sgetrf" of f32.
template <class T>
std::string named(const char* routine) {
  return std::string(1, kLetter<T>) + routine;
}
/// The leading dimension of a matrix of so many rows, which is at least 1.
inline int leading(int rows) { return std::max(1, rows); }

/// A Fortran routine; the lengths of one-letter arguments follow the others.
template <class... Args>
class Routine {
 public:
  explicit Routine(void* address) : address_(address) {}
  void operator()(Args... args) const {
    using Length = std::size_t;
    strata::lapack::call<Args..., Length, Length, Length, Length>(address_, args..., 1, 1, 1, 1);
  }

 private:
  void* address_;
};

/// Rows, columns and number of the matrices of a type; nothing for another rank or what 32 bits do
/// not count.
struct Matrices {
  int rows = 0, columns = 0;
  std::int64_t batch = 1;
  std::int64_t size() const { return std::int64_t{rows} * columns; }
};
std::optional<Matrices> matrices(const Type& type);

/// A letter among the attributes ('L' as 76 : ui8); 0 where there is none.
char letter(const foreign::Call& call, const char* name);

Status wrong(const foreign::Call& call);

/// Element `i` of a batch of `size` elements each.
template <class T>
T* at(void* base, std::int64_t i, std::int64_t size) {
  return static_cast<T*>(base) + i * size;
}

/// Zeros that a routine works in.
template <class T>
std::vector<T> scratch(std::int64_t n) {
  return std::vector<T>(static_cast<std::size_t>(std::max<std::int64_t>(n, 1)));
}
/// What a query left in the first element of its work space.
template <class T>
int asked(const T& work) {
  return std::max(1, static_cast<int>(std::real(work)));
}

using Bind = Result<foreign::Bound> (*)(const foreign::Call&);
/// By the letter of the element type: s, d, c or z. Null for another letter.
#define STRATA_LAPACK_FAMILY(name) Bind name(char type);
STRATA_LAPACK_FAMILY(bind_potrf)
STRATA_LAPACK_FAMILY(bind_getrf)
STRATA_LAPACK_FAMILY(bind_geqrf)
STRATA_LAPACK_FAMILY(bind_orgqr)
STRATA_LAPACK_FAMILY(bind_trsm)
STRATA_LAPACK_FAMILY(bind_gesdd)
STRATA_LAPACK_FAMILY(bind_syevd)
STRATA_LAPACK_FAMILY(bind_geev)
STRATA_LAPACK_FAMILY(bind_gees)
STRATA_LAPACK_FAMILY(bind_gehrd)
STRATA_LAPACK_FAMILY(bind_sytrd)
STRATA_LAPACK_FAMILY(bind_gtsv)
#undef STRATA_LAPACK_FAMILY

/// `Make<T>` by the letter.
#define STRATA_LAPACK_BY_TYPE(name, Make)          \
  Bind name(char type) {                           \
    switch (type) {                                \
      case 's': return Make<float>;                \
      case 'd': return Make<double>;               \
      case 'c': return Make<std::complex<float>>;  \
      case 'z': return Make<std::complex<double>>; \
      default: return nullptr;                     \
    }                                              \
  }

}  // namespace strata::op::lapack
