// Large matrices by LAPACK (strata/lapack): what its routines take and give as one hears of it in
// C++. Matrices are column by column, without gaps; a row-major matrix is such a one transposed.
// Results are LAPACK's `info`: 0, or what went wrong.
//
// Kernels ask `by_lapack` first and have a plain way to do the same, for small matrices and where a
// program holds no LAPACK. Which way is taken depends on the sizes alone. f32 is computed in f32
// here, bf16 and f16 too; the plain ways compute in f64.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "strata/lapack/routine.h"
#include "strata/loop/kernel/linalg/small.h"

namespace strata::loop::large {

using factor::is_complex;
using factor::RealOf;

/// What LAPACK computes elements in.
template <class T>
struct ComputedAs {
  using type = T;
};
template <>
struct ComputedAs<BFloat16> {
  using type = float;
};
template <>
struct ComputedAs<Float16> {
  using type = float;
};
template <class T>
using Computed = typename ComputedAs<T>::type;

/// Whether LAPACK does matrices of this shape: those that are not small (small.h).
#ifdef STRATA_OBJECT_RUNTIME  // the runtime of object files: none, and no code that would call it
constexpr bool by_lapack(std::int64_t, std::int64_t) { return false; }
constexpr bool by_products(std::int64_t, std::int64_t) { return false; }
#else
bool by_lapack(std::int64_t rows, std::int64_t columns);
/// Whether blocks of our own products do it, of what uses them; a program needs no LAPACK then.
bool by_products(std::int64_t rows, std::int64_t columns);
#endif
namespace testing_hooks {
/// As long as this is on, LAPACK does nothing, and blocks of products neither.
void plain_kernels_only(bool on);
}  // namespace testing_hooks

/// Numbers that begin at a cache line, so that bits do not depend on where they are. Nothing is
/// set.
template <class T>
class Numbers {
 public:
  explicit Numbers(std::int64_t count)
      : at_(static_cast<T*>(
            ::operator new(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(T),
                           std::align_val_t{64}))) {}
  ~Numbers() { ::operator delete(at_, std::align_val_t{64}); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  T* data() { return at_; }
  const T* data() const { return at_; }
  T& operator[](std::int64_t i) { return at_[i]; }
  const T& operator[](std::int64_t i) const { return at_[i]; }

 private:
  T* at_;
};

template <class T>
inline constexpr char kLetter = 's';
template <>
inline constexpr char kLetter<double> = 'd';
template <>
inline constexpr char kLetter<std::complex<float>> = 'c';
template <>
inline constexpr char kLetter<std::complex<double>> = 'z';

/// Calls a routine by its name without the letter of T, `texts` of whose arguments are letters.
template <class T, class... Args>
void call(const char* name, Args... args) {
  constexpr std::size_t kLetters = 1;
  lapack::call<Args..., std::size_t, std::size_t>(lapack::routine(kLetter<T> + std::string(name)),
                                                  args..., kLetters, kLetters);
}

/// `f(work, size)` twice: with size -1 it says how much work space it wants.
template <class T, class F>
int with_work(F&& f) {
  T wanted{};
  int size = -1;
  if (const int info = f(&wanted, &size); info != 0) return info;
  size = std::max(
      1, static_cast<int>(std::real(wanted) * 1.000001));  // a float may have been rounded down
  Numbers<T> work(size);
  return f(work.data(), &size);
}

/// The Cholesky factor of one triangle ('L', 'U') in its place; positive where the matrix is not
/// positive definite.
template <class T>
int potrf(char uplo, int n, T* a) {
  int info = 0;
  call<T, const char*, const int*, T*, const int*, int*>("potrf", &uplo, &n, a, &n, &info);
  return info;
}

/// L and U in place; the row (from 1) that each row was exchanged with.
template <class T>
int getrf(int m, int n, T* a, int* pivots) {
  int info = 0;
  call<T, const int*, const int*, T*, const int*, int*, int*>("getrf", &m, &n, a, &m, pivots,
                                                              &info);
  return info;
}

/// X op(A) = B where side is 'R' and op(A) X = B where it is 'L', for a triangle of A ('L', 'U';
/// unit: its diagonal is ones) and op 'N', 'T' or 'C'. X, of m rows and n columns that begin
/// `stride` numbers apart, stands in place of B.
template <class T>
void trsm(char side, char uplo, char op, bool unit, int m, int n, const T* a, int a_stride, T* x,
          int stride) {
  const char diagonal = unit ? 'U' : 'N';
  const T one(1);
  call<T, const char*, const char*, const char*, const char*, const int*, const int*, const T*,
       const T*, const int*, T*, const int*>("trsm", &side, &uplo, &op, &diagonal, &m, &n, &one, a,
                                             &a_stride, x, &stride);
}

template <class T>
int geqrf(int m, int n, T* a, T* taus) {
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    call<T, const int*, const int*, T*, const int*, T*, T*, const int*, int*>(
        "geqrf", &m, &n, a, &m, taus, work, size, &info);
    return info;
  });
}

/// The first n columns of the product of k reflectors, in their place.
template <class T>
int orgqr(int m, int n, int k, T* a, const T* taus) {
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    call<T, const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*>(
        is_complex<T> ? "ungqr" : "orgqr", &m, &n, &k, a, &m, taus, work, size, &info);
    return info;
  });
}

/// Eigenvectors in place of a Hermitian matrix of which one triangle is read, eigenvalues in
/// ascending order.
template <class T>
int heevd(char uplo, int n, T* a, RealOf<T>* w) {
  using R = RealOf<T>;
  const char vectors = 'V';
  int integers = 5 * n + 3, info = 0;
  Numbers<int> iwork(integers);
  int reals = 1 + 5 * n + 2 * n * n;
  Numbers<R> rwork(is_complex<T> ? reals : 1);
  return with_work<T>([&](T* work, int* size) {
    int iasked = *size < 0 ? -1 : integers, rasked = *size < 0 ? -1 : reals;
    if constexpr (is_complex<T>)
      call<T, const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*,
           const int*, int*, const int*, int*>("heevd", &vectors, &uplo, &n, a, &n, w, work, size,
                                               rwork.data(), &rasked, iwork.data(), &iasked, &info);
    else
      call<T, const char*, const char*, const int*, T*, const int*, R*, T*, const int*, int*,
           const int*, int*>("syevd", &vectors, &uplo, &n, a, &n, w, work, size, iwork.data(),
                             &iasked, &info);
    return info;
  });
}

/// geqrf of exchanged columns: column j of the product is column pivots[j] (from 1).
template <class T>
int geqp3(int m, int n, T* a, int* pivots, T* taus) {
  std::fill_n(pivots, n, 0);  // all may move
  Numbers<RealOf<T>> rwork(is_complex<T> ? 2 * n : 1);
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    if constexpr (is_complex<T>)
      call<T, const int*, const int*, T*, const int*, int*, T*, T*, const int*, RealOf<T>*, int*>(
          "geqp3", &m, &n, a, &m, pivots, taus, work, size, rwork.data(), &info);
    else
      call<T, const int*, const int*, T*, const int*, int*, T*, T*, const int*, int*>(
          "geqp3", &m, &n, a, &m, pivots, taus, work, size, &info);
    return info;
  });
}

/// Hessenberg's form with its reflectors below it, in place.
template <class T>
int gehrd(int n, T* a, T* taus) {
  const int first = 1;
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    call<T, const int*, const int*, const int*, T*, const int*, T*, T*, const int*, int*>(
        "gehrd", &n, &first, &n, a, &n, taus, work, size, &info);
    return info;
  });
}

/// A Hermitian matrix of which one triangle is read made tridiagonal, that triangle in place.
template <class T>
int hetrd(char uplo, int n, T* a, RealOf<T>* diagonal, RealOf<T>* beside, T* taus) {
  using R = RealOf<T>;
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    call<T, const char*, const int*, T*, const int*, R*, R*, T*, T*, const int*, int*>(
        is_complex<T> ? "hetrd" : "sytrd", &uplo, &n, a, &n, diagonal, beside, taus, work, size,
        &info);
    return info;
  });
}

/// Schur's form in place and its vectors; positive where the iteration does not end.
template <class T>
int gees(int n, T* a, T* vectors) {
  using R = RealOf<T>;
  const char wanted = 'V', sorted = 'N';
  void* const select = nullptr;
  int selected = 0;
  Numbers<int> bwork(1);
  Numbers<R> reals(2 * n);
  Numbers<T> values(n);
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    if constexpr (is_complex<T>)
      call<T, const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*, const int*,
           T*, const int*, R*, int*, int*>("gees", &wanted, &sorted, select, &n, a, &n, &selected,
                                           values.data(), vectors, &n, work, size, reals.data(),
                                           bwork.data(), &info);
    else
      call<T, const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*, T*,
           const int*, T*, const int*, int*, int*>("gees", &wanted, &sorted, select, &n, a, &n,
                                                   &selected, reals.data(), reals.data() + n,
                                                   vectors, &n, work, size, bwork.data(), &info);
    return info;
  });
}

/// Eigenvalues w and, where they are not null, left and right eigenvectors; of real matrices a
/// pair's vectors are columns of real and imaginary parts, and w is n real parts and then n
/// imaginary ones. `a` is overwritten.
template <class T>
int geev(int n, T* a, T* w, T* left, T* right) {
  using R = RealOf<T>;
  const char l = left ? 'V' : 'N', r = right ? 'V' : 'N';
  Numbers<R> rwork(is_complex<T> ? 2 * n : 1);
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    if constexpr (is_complex<T>)
      call<T, const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,
           const int*, T*, const int*, R*, int*>("geev", &l, &r, &n, a, &n, w, left, &n, right, &n,
                                                 work, size, rwork.data(), &info);
    else
      call<T, const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,
           const int*, T*, const int*, int*>("geev", &l, &r, &n, a, &n, w, w + n, left, &n, right,
                                             &n, work, size, &info);
    return info;
  });
}

/// Singular values and, where job is 'S' (thin) or 'A' (full), vectors: u [m, min or m], vh [min or
/// n, n]; 'N' leaves them.
template <class T>
int gesdd(char job, int m, int n, T* a, RealOf<T>* s, T* u, T* vh) {
  using R = RealOf<T>;
  const int least = std::min(m, n), most = std::max(m, n), rows = job == 'A' ? n : least;
  Numbers<int> iwork(8 * least);
  const std::int64_t k = least;
  Numbers<R> rwork(is_complex<T> ? std::max(5 * k * k + 7 * k, 2 * most * k + 2 * k * k + k) : 1);
  return with_work<T>([&](T* work, int* size) {
    int info = 0;
    if constexpr (is_complex<T>)
      call<T, const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,
           const int*, T*, const int*, R*, int*, int*>("gesdd", &job, &m, &n, a, &m, s, u, &m, vh,
                                                       &rows, work, size, rwork.data(),
                                                       iwork.data(), &info);
    else
      call<T, const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,
           const int*, T*, const int*, int*, int*>("gesdd", &job, &m, &n, a, &m, s, u, &m, vh,
                                                   &rows, work, size, iwork.data(), &info);
    return info;
  });
}

/// What LAPACK computes of an element, and back.
template <class T>
Computed<T> computed(T x) {
  if constexpr (std::is_same_v<T, Computed<T>>)
    return x;
  else
    return static_cast<float>(x);
}
template <class C>
bool is_finite(C x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}
template <class C>
C conjugate(C x) {
  if constexpr (is_complex<C>)
    return std::conj(x);
  else
    return x;
}
template <class C>
bool all_finite(const C* x, std::int64_t count) {
  // 0 times what is not finite is NaN; some sums, because one waits for itself.
  C zeros[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int k = 0; k < 8; ++k) zeros[k] += x[i + k] * RealOf<C>(0);
  return std::all_of(zeros, zeros + 8, is_finite<C>) && std::all_of(x + i, x + count, is_finite<C>);
}
/// NaN in both parts.
template <class T>
T not_a_number() {
  const auto nan = std::numeric_limits<RealOf<Computed<T>>>::quiet_NaN();
  if constexpr (is_complex<T>)
    return T(nan, nan);
  else
    return T(nan);
}

/// out[j, i] = f(in[i, j]) of m rows and n columns, by squares beside them: the lines of a column
/// of a square share few places of the cache where n is a power of two.
template <class From, class To, class F>
void transpose(const From* in, std::int64_t m, std::int64_t n, To* out, F&& f) {
  constexpr std::int64_t kSide = 32;
  To square[kSide * kSide];
  for (std::int64_t i0 = 0; i0 < m; i0 += kSide)
    for (std::int64_t j0 = 0; j0 < n; j0 += kSide) {
      const std::int64_t rows = std::min(kSide, m - i0), columns = std::min(kSide, n - j0);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          square[j * kSide + i] = f(in[(i0 + i) * n + j0 + j]);
      for (std::int64_t j = 0; j < columns; ++j)
        std::copy_n(square + j * kSide, rows, out + (j0 + j) * m + i0);
    }
}
/// Row-major elements as LAPACK takes them, and back.
template <class T>
void to_columns(const T* in, std::int64_t m, std::int64_t n, Computed<T>* out) {
  transpose(in, m, n, out, [](T x) { return computed(x); });
}
template <class T>
void from_columns(const Computed<T>* in, std::int64_t m, std::int64_t n, T* out) {
  transpose(in, n, m, out, [](Computed<T> x) { return T(x); });
}

}  // namespace strata::loop::large
