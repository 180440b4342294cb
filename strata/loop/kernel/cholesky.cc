// cholesky: A = L L^H, or A = U^H U, of Hermitian positive definite matrices, of which one triangle is read.
//
// Buffers: matrices, factors. Parameters: small.h (1 for L). A grid point is one matrix, or some small ones. The other
// triangle of a factor is zero. A matrix that is not positive definite gives NaN throughout the factor's triangle.
//
// Computed in f64, rounded once; sums run over ascending columns.
#include <cstdint>
#include <limits>
#include <vector>

#include "strata/loop/kernel/small.h"

extern "C" void strata_cholesky(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;

using Params = strata::loop::small::CholeskyParams;

/// The lower factor in place of the lower triangle; false where a pivot is not positive.
template <class W>
bool factorise(std::vector<W>& a, std::int64_t n) {
  auto at = [&](std::int64_t i, std::int64_t j) -> W& { return a[static_cast<std::size_t>(i * n + j)]; };
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
      a[static_cast<std::size_t>(i * p.n + j)] = p.lower ? widen(in[i * p.n + j]) : conj(widen(in[j * p.n + i]));
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

}  // namespace

extern "C" void strata_cholesky(void* const* buffers, std::int64_t begin, std::int64_t end) {
  using namespace strata::loop::small;
  const Params& p = *static_cast<const Params*>(buffers[2]);
  const Range range = Range::of(begin, end, together(p.n, p.n), p.batch);
  dispatch(p.element, [&]<class T>(T) {
    if (fits<T>(p.n, p.n, range)) return instruction_set().cholesky(buffers, p, range);
    for (std::int64_t i = range.begin; i < range.end; ++i)
      one(static_cast<const T*>(buffers[0]) + i * p.n * p.n, static_cast<T*>(buffers[1]) + i * p.n * p.n, p);
  });
}
