// cholesky: A = L L^H, or A = U^H U, of Hermitian positive definite matrices, of which one triangle
// is read.
//
// Buffers: matrices, factors. Parameters: small.h (1 for L). A grid point is one matrix, or some
// small ones. The other triangle of a factor is zero. A matrix that is not positive definite gives
// NaN throughout the factor's triangle.
//
// Small matrices are computed in f64 and rounded once; sums run over ascending columns. Large ones
// use products (product_cholesky.h), complex ones of them by LAPACK (large.h).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "strata/loop/kernel/linalg/large.h"
#ifndef STRATA_OBJECT_RUNTIME
#include "strata/loop/kernel/linalg/product_cholesky.h"
#endif

extern "C" void strata_cholesky(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;

using Params = strata::loop::small::CholeskyParams;

/// The lower factor in place of the lower triangle; false where a pivot is not positive.
template <class W>
bool factorise(std::vector<W>& a, std::int64_t n) {
  auto at = [&](std::int64_t i, std::int64_t j) -> W& {
    return a[static_cast<std::size_t>(i * n + j)];
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      W sum = at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= times(at(i, k), conj(at(j, k)));
      if (j < i) {
        at(i, j) = sum / real(at(j, j));
        continue;
      }
      double pivot = real(sum);
      if (!(pivot > 0)) return false;
      at(i, i) = std::sqrt(pivot);
    }
  return true;
}

/// The upper triangle is read and written as the conjugate transpose of the lower one.
template <class T>
void one(const T* in, T* out, const Params& p) {
  std::vector<Wide<T>> a(static_cast<std::size_t>(p.n * p.n));
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      a[static_cast<std::size_t>(i * p.n + j)] =
          p.lower ? widen(in[i * p.n + j]) : conj(widen(in[j * p.n + i]));
  bool fine = factorise(a, p.n);
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      Wide<T> x = a[static_cast<std::size_t>(i * p.n + j)];
      if (!fine) x = std::numeric_limits<double>::quiet_NaN();
      if (j > i) x = 0;
      if (p.lower)
        out[i * p.n + j] = narrow<T>(x);
      else
        out[j * p.n + i] = narrow<T>(conj(x));
    }
}

template <class T>
void not_positive_definite(T* out, const Params& p) {
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = 0; j < p.n; ++j)
      out[i * p.n + j] = (p.lower ? j <= i : j >= i) ? large::not_a_number<T>() : T();
}

/// Complex ones. Row-major matrices are LAPACK's transposed: what is lower here is upper there, and
/// L stands where it wants U.
template <class T>
void one_by_lapack(const T* in, T* out, const Params& p) {
  large::Numbers<T> a(p.n * p.n);
  std::copy_n(in, p.n * p.n, a.data());
  bool fine = large::potrf(p.lower ? 'U' : 'L', static_cast<int>(p.n), a.data()) == 0;
  for (std::int64_t i = 0; i < p.n; ++i) fine = fine && large::is_finite(a[i * p.n + i]);
  if (!fine) return not_positive_definite(out, p);
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = 0; j < p.n; ++j)
      out[i * p.n + j] = (p.lower ? j <= i : j >= i) ? a[i * p.n + j] : T();
}

/// How a matrix is factored: the large ones by blocks of products, and complex ones by LAPACK.
template <class T>
auto way(const Params& p) {
#ifndef STRATA_OBJECT_RUNTIME
  if constexpr (!is_complex<T>) {
    if (large::by_products(p.n, p.n))
      return +[](const T* in, T* out, const Params& q) {
        namespace product = strata::loop::product;
        if (!product::cholesky(product::instruction_set(), q.n, q.lower != 0, in, out))
          not_positive_definite(out, q);
      };
  }
#endif
  if constexpr (is_complex<T>)
    if (large::by_lapack(p.n, p.n)) return &one_by_lapack<T>;
  return &one<T>;
}

}  // namespace

extern "C" void strata_cholesky(void* const* buffers, std::int64_t begin, std::int64_t end) {
  using namespace strata::loop::small;
  const Params& p = *static_cast<const Params*>(buffers[2]);
  const Range range = Range::of(begin, end, together(p.n, p.n), p.batch);
  dispatch(p.element, [&]<class T>(T) {
    if (fits(p.element, p.n, p.n, range)) return instruction_set().cholesky(buffers, p, range);
    const auto factor = way<T>(p);
    for (std::int64_t i = range.begin; i < range.end; ++i)
      factor(static_cast<const T*>(buffers[0]) + i * p.n * p.n,
             static_cast<T*>(buffers[1]) + i * p.n * p.n, p);
  });
}
