// lu: P A = L U with partial pivoting, L below the diagonal (its own is ones), U on and above it,
// in place of A.
//
// Buffers: matrices [m, n], factors, pivots (i32 [min(m, n)]: the row that row k was exchanged
// with, from 0), permutation (i32 [m]: row i of L U is row permutation[i] of A). Parameters:
// small.h. A grid point is one matrix, or some small ones. The pivot is the first element of the
// greatest |re| + |im|, as in LAPACK; a column of zeros is left. Small matrices, and those that are
// not finite, are computed in f64 and rounded once, others by LAPACK (large.h).
#include <cmath>
#include <numeric>

#include "strata/loop/kernel/linalg/large.h"
#include "strata/loop/kernel/linalg/reflector.h"

extern "C" void strata_lu(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;

using Params = strata::loop::small::LuParams;

template <class W>
double size_of(W x) {
  return std::abs(real(x)) + std::abs(imaginary(x));
}

template <class W>
std::int64_t pivot_row(const Matrix<W>& a, std::int64_t k) {
  std::int64_t best = k;
  for (std::int64_t i = k + 1; i < a.m; ++i)
    if (size_of(a(i, k)) > size_of(a(best, k))) best = i;
  return best;
}

/// Row i less so many times row k that nothing of column k is left; the factor takes its place.
template <class W>
void eliminate(Matrix<W>& a, std::int64_t i, std::int64_t k) {
  const W factor = a(i, k) = a(i, k) / a(k, k);
  if (factor == W(0)) return;
  for (std::int64_t j = k + 1; j < a.n; ++j) a(i, j) -= times(factor, a(k, j));
}

template <class W>
void factorise(Matrix<W>& a, std::int32_t* pivots, std::int32_t* permutation) {
  std::iota(permutation, permutation + a.m, 0);
  for (std::int64_t k = 0; k < std::min(a.m, a.n); ++k) {
    const std::int64_t p = pivot_row(a, k);
    pivots[k] = static_cast<std::int32_t>(p);
    if (p != k) {
      for (std::int64_t j = 0; j < a.n; ++j) std::swap(a(p, j), a(k, j));
      std::swap(permutation[p], permutation[k]);
    }
    if (a(k, k) == W(0)) continue;
    for (std::int64_t i = k + 1; i < a.m; ++i) eliminate(a, i, k);
  }
}

template <class T>
void one(const T* in, T* out, std::int32_t* pivots, std::int32_t* permutation, const Params& p) {
  auto a = read_matrix(in, p.m, p.n);
  factorise(a, pivots, permutation);
  write_matrix(a, out);
}

template <class T>
void one_by_lapack(const T* in, T* out, std::int32_t* pivots, std::int32_t* permutation,
                   const Params& p) {
  large::Numbers<large::Computed<T>> a(p.m * p.n);
  large::to_columns(in, p.m, p.n, a.data());
  if (!large::all_finite(a.data(), p.m * p.n)) return one(in, out, pivots, permutation, p);
  large::getrf(static_cast<int>(p.m), static_cast<int>(p.n), a.data(), pivots);
  large::from_columns(a.data(), p.m, p.n, out);
  std::iota(permutation, permutation + p.m, 0);
  for (std::int64_t k = 0; k < std::min(p.m, p.n); ++k)
    std::swap(permutation[k], permutation[--pivots[k]]);
}

}  // namespace

extern "C" void strata_lu(void* const* buffers, std::int64_t begin, std::int64_t end) {
  using namespace strata::loop::small;
  const Params& p = *static_cast<const Params*>(buffers[4]);
  const Range range = Range::of(begin, end, together(p.m, p.n), p.batch);
  dispatch(p.element, [&]<class T>(T) {
    const bool is_large = large::by_lapack(p.m, p.n);
    if (fits(p.element, p.m, p.n, range)) return instruction_set().lu(buffers, p, range);
    for (std::int64_t i = range.begin; i < range.end; ++i)
      (is_large ? one_by_lapack<T>
                : one<T>)(element_at<const T>(buffers[0], i, p.m * p.n),
                          element_at<T>(buffers[1], i, p.m * p.n),
                          element_at<std::int32_t>(buffers[2], i, std::min(p.m, p.n)),
                          element_at<std::int32_t>(buffers[3], i, p.m), p);
  });
}
