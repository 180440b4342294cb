// eigh: eigenvalues of Hermitian matrices in ascending order, and their eigenvectors as columns.
// The lower triangle is read.
//
// Buffers: matrices [n, n], eigenvectors, eigenvalues (of the real type). Parameters: element type
// (factor.h), n. A grid point is one matrix. Made tridiagonal, then QL with implicit shifts
// (Bowdler, Martin, Reinsch and Wilkinson, "The QR and QL algorithms for symmetric matrices", 1968)
// in f64. Large ones by LAPACK (large.h). NaN throughout where an element is not finite, or where
// the iteration does not end.
#include <cmath>
#include <limits>
#include <numeric>

#include "strata/loop/kernel/linalg/large.h"
#include "strata/loop/kernel/linalg/tridiagonal.h"

extern "C" void strata_eigh(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;
namespace large = strata::loop::large;

struct Params {
  std::int64_t element, n;
};

/// Rows i and i + 1 turned.
template <class W>
void turn(Matrix<W>& z, std::int64_t i, double c, double s) {
  for (std::int64_t k = 0; k < z.n; ++k) {
    const W upper = z(i, k), lower = z(i + 1, k);
    z(i + 1, k) = s * upper + c * lower;
    z(i, k) = c * upper - s * lower;
  }
}

/// The first row from l on that is cut off from the next.
std::int64_t end_of_block(const std::vector<double>& d, const std::vector<double>& e,
                          std::int64_t l) {
  auto at = [](const std::vector<double>& v, std::int64_t i) {
    return std::abs(v[static_cast<std::size_t>(i)]);
  };
  const auto last = static_cast<std::int64_t>(d.size()) - 1;
  for (; l < last; ++l)
    if (at(e, l) <= std::numeric_limits<double>::epsilon() / 2 * (at(d, l) + at(d, l + 1))) break;
  return l;
}

/// One step of QL on rows [l, m].
template <class W>
void step(std::vector<double>& d, std::vector<double>& e, Matrix<W>& z, std::int64_t l,
          std::int64_t m) {
  auto D = [&](std::int64_t i) -> double& { return d[static_cast<std::size_t>(i)]; };
  auto E = [&](std::int64_t i) -> double& { return e[static_cast<std::size_t>(i)]; };
  double g = (D(l + 1) - D(l)) / (2 * E(l));
  g = D(m) - D(l) + E(l) / (g + std::copysign(std::hypot(g, 1.0), g));
  double s = 1, c = 1, p = 0;
  for (std::int64_t i = m; i-- > l;) {
    const double f = s * E(i), b = c * E(i), r = std::hypot(f, g);
    E(i + 1) = r;
    if (r == 0) {
      D(i + 1) -= p;
      E(m) = 0;
      return;
    }
    s = f / r, c = g / r;
    g = D(i + 1) - p;
    const double q = (D(i) - g) * s + 2 * c * b;
    p = s * q;
    D(i + 1) = g + p;
    g = c * q - b;
    turn(z, i, c, s);
  }
  D(l) -= p;
  E(l) = g;
  E(m) = 0;
}

/// Eigenvalues in `d`, eigenvectors as rows of `z` (which holds Q^T); false where it does not end.
template <class W>
bool diagonalise(std::vector<double>& d, std::vector<double> e, Matrix<W>& z) {
  e.push_back(0);
  for (std::int64_t l = 0; l < z.m; ++l)
    for (int steps = 0;; ++steps) {
      const std::int64_t m = end_of_block(d, e, l);
      if (m == l) break;
      if (steps == 60) return false;
      step(d, e, z, l, m);
    }
  return true;
}

template <class T, class R>
void one(const T* in, T* vectors, R* values, std::int64_t n) {
  auto a = read_matrix(in, n, n);
  mirror_lower(a);
  auto t = all_finite(a) ? tridiagonal_in_place(a) : Tridiagonal<Wide<T>>{};
  Matrix<Wide<T>> z = product_of_reflectors(a, t.taus, n, 1);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(z(i, j), z(j, i));
  if (t.diagonal.size() != static_cast<std::size_t>(n) || !diagonalise(t.diagonal, t.beside, z)) {
    t.diagonal.assign(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
    std::fill(z.a.begin(), z.a.end(), std::numeric_limits<double>::quiet_NaN());
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) {
    return t.diagonal[static_cast<std::size_t>(i)] < t.diagonal[static_cast<std::size_t>(j)];
  });
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t from = order[static_cast<std::size_t>(j)];
    values[j] = narrow<R>(t.diagonal[static_cast<std::size_t>(from)]);
    for (std::int64_t i = 0; i < n; ++i) vectors[i * n + j] = narrow<T>(z(from, i));
  }
}

/// LAPACK sees the conjugate matrix, whose eigenvectors are conjugate; what is lower here is upper
/// there.
template <class T, class R>
void one_by_lapack(const T* in, T* vectors, R* values, std::int64_t n) {
  using C = large::Computed<T>;
  large::Numbers<C> a(n * n);
  large::Numbers<RealOf<C>> w(n);
  bool fine = true;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      fine = large::is_finite(a[i * n + j] = large::computed(in[i * n + j])) && fine;
  fine = fine && large::heevd('U', static_cast<int>(n), a.data(), w.data()) == 0;
  if (!fine) {
    std::fill_n(vectors, n * n, large::not_a_number<T>());
    std::fill_n(values, n, large::not_a_number<R>());
    return;
  }
  large::transpose(a.data(), n, n, vectors, [](C x) { return T(large::conjugate(x)); });
  for (std::int64_t i = 0; i < n; ++i) values[i] = R(w[i]);
}

}  // namespace

extern "C" void strata_eigh(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    const bool is_large = large::by_lapack(p.n, p.n);
    using R = RealOf<T>;
    for (std::int64_t i = begin; i < end; ++i)
      (is_large ? one_by_lapack<T, R> : one<T, R>)(element_at<const T>(buffers[0], i, p.n * p.n),
                                                   element_at<T>(buffers[1], i, p.n * p.n),
                                                   element_at<R>(buffers[2], i, p.n), p.n);
  });
}
