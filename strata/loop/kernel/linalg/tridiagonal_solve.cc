// tridiagonal_solve: X of A X = B, where A has three diagonals: elimination with exchanges of
// neighbouring rows, as LAPACK's gtsv.
//
// Buffers: the diagonal below (its first element is not read), the diagonal, the one above (its
// last element is not read), all [n]; B [n, k]; X. Parameters: element type (factor.h), n, k. A
// grid point is one system. Computed in f64, rounded once.
#include "strata/loop/kernel/linalg/reflector.h"

extern "C" void strata_tridiagonal_solve(void* const* buffers, std::int64_t begin,
                                         std::int64_t end);

namespace {

using namespace strata::loop::factor;

struct Params {
  std::int64_t element, n, k;
};

template <class W>
double size_of(W x) {
  return std::abs(real(x)) + std::abs(imaginary(x));
}

/// Upper bands: rows of three elements from the diagonal on; `below` the diagonal under it.
template <class W>
void eliminate(Matrix<W>& bands, std::vector<W>& below, Matrix<W>& x) {
  for (std::int64_t i = 0; i + 1 < bands.m; ++i) {
    W& under = below[static_cast<std::size_t>(i + 1)];
    if (size_of(under) > size_of(bands(i, 0))) {
      // Row i + 1 begins with `under`; exchanged, what it reaches is one farther.
      std::swap(bands(i, 0), under);
      const W next = bands(i, 1), last = bands(i + 1, 1);
      bands(i, 1) = bands(i + 1, 0), bands(i, 2) = last;
      bands(i + 1, 0) = next, bands(i + 1, 1) = 0;
      for (std::int64_t j = 0; j < x.n; ++j) std::swap(x(i, j), x(i + 1, j));
    }
    const W factor = under / bands(i, 0);
    bands(i + 1, 0) -= times(factor, bands(i, 1));
    bands(i + 1, 1) -= times(factor, bands(i, 2));
    for (std::int64_t j = 0; j < x.n; ++j) x(i + 1, j) -= times(factor, x(i, j));
  }
}

template <class W>
void substitute(const Matrix<W>& bands, Matrix<W>& x) {
  for (std::int64_t i = bands.m; i-- > 0;)
    for (std::int64_t j = 0; j < x.n; ++j) {
      W sum = x(i, j);
      for (std::int64_t d = 1; d < 3 && i + d < bands.m; ++d)
        sum -= times(bands(i, d), x(i + d, j));
      x(i, j) = sum / bands(i, 0);
    }
}

template <class T>
void one(const T* lower, const T* diagonal, const T* upper, const T* b, T* out, const Params& p) {
  Matrix<Wide<T>> bands{p.n, 3}, x = read_matrix(b, p.n, p.k);
  std::vector<Wide<T>> below;
  for (std::int64_t i = 0; i < p.n; ++i) {
    below.push_back(widen(lower[i]));
    bands(i, 0) = widen(diagonal[i]);
    if (i + 1 < p.n) bands(i, 1) = widen(upper[i]);
  }
  eliminate(bands, below, x);
  substitute(bands, x);
  write_matrix(x, out);
}

}  // namespace

extern "C" void strata_tridiagonal_solve(void* const* buffers, std::int64_t begin,
                                         std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[5]);
  dispatch(p.element, [&]<class T>(T) {
    auto line = [&](int which, std::int64_t i) {
      return element_at<const T>(buffers[which], i, p.n);
    };
    for (std::int64_t i = begin; i < end; ++i)
      one(line(0, i), line(1, i), line(2, i), element_at<const T>(buffers[3], i, p.n * p.k),
          element_at<T>(buffers[4], i, p.n * p.k), p);
  });
}
