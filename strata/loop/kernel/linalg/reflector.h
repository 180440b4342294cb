// Elementary reflectors H = I - tau v v^H, by which orthogonal factorisations are made: as LAPACK's
// larfg makes them, and applied to matrices in f64.
//
// v is 1 at its first place and stands below it in a column of a matrix. beta is real and of the
// other sign than the real part of what it takes the place of; tau is 0 where there is nothing to
// reflect: H^H (alpha, x) = (beta, 0).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "strata/loop/kernel/linalg/factor.h"

namespace strata::loop::factor {

/// Row-major.
template <class W>
struct Matrix {
  std::int64_t m, n;
  std::vector<W> a = std::vector<W>(static_cast<std::size_t>(m * n));
  W& operator()(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i * n + j)]; }
  const W& operator()(std::int64_t i, std::int64_t j) const {
    return a[static_cast<std::size_t>(i * n + j)];
  }
};

template <class T>
Matrix<Wide<T>> read_matrix(const T* in, std::int64_t m, std::int64_t n) {
  Matrix<Wide<T>> out{m, n};
  for (std::int64_t i = 0; i < m * n; ++i) out.a[static_cast<std::size_t>(i)] = widen(in[i]);
  return out;
}
template <class T>
void write_matrix(const Matrix<Wide<T>>& a, T* out) {
  for (std::size_t i = 0; i < a.a.size(); ++i) out[i] = narrow<T>(a.a[i]);
}
template <class W>
Matrix<W> identity_matrix(std::int64_t n) {
  Matrix<W> out{n, n};
  for (std::int64_t i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}
template <class W>
Matrix<W> adjoint_of(const Matrix<W>& a) {
  Matrix<W> out{a.n, a.m};
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) out(j, i) = conj(a(i, j));
  return out;
}

inline double square(double x) { return x * x; }
inline double square(std::complex<double> x) { return x.real() * x.real() + x.imag() * x.imag(); }
inline double imaginary(double) { return 0; }
inline double imaginary(std::complex<double> x) { return x.imag(); }

template <class W>
bool all_finite(const Matrix<W>& a) {
  return std::all_of(a.a.begin(), a.a.end(),
                     [](W x) { return std::isfinite(real(x)) && std::isfinite(imaginary(x)); });
}

/// The reflector that leaves of column j, from row `first` down, only its first element. v takes
/// the place of the rest; returns tau.
template <class W>
W make_reflector(Matrix<W>& a, std::int64_t first, std::int64_t j) {
  double below = 0;
  for (std::int64_t i = first + 1; i < a.m; ++i) below += square(a(i, j));
  W alpha = a(first, j);
  if (below == 0 && imaginary(alpha) == 0) return 0;
  double beta = -std::copysign(std::sqrt(square(alpha) + below), real(alpha));
  W tau = (beta - alpha) / beta;
  for (std::int64_t i = first + 1; i < a.m; ++i) a(i, j) = a(i, j) / (alpha - beta);
  a(first, j) = beta;
  return tau;
}

/// Rows `first` and below of columns [begin, end) of `a` become (I - tau v v^H) of themselves; v
/// stands in column j of `vs`.
template <class W>
void reflect_rows(Matrix<W>& a, const Matrix<W>& vs, std::int64_t first, std::int64_t j, W tau,
                  std::int64_t begin, std::int64_t end) {
  std::vector<W> sums(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)));
  auto sum = [&](std::int64_t c) -> W& { return sums[static_cast<std::size_t>(c - begin)]; };
  for (std::int64_t c = begin; c < end; ++c) sum(c) = a(first, c);
  for (std::int64_t i = first + 1; i < a.m; ++i)
    for (std::int64_t c = begin; c < end; ++c) sum(c) += times(conj(vs(i, j)), a(i, c));
  for (W& s : sums) s = times(tau, s);
  for (std::int64_t c = begin; c < end; ++c) a(first, c) -= sum(c);
  for (std::int64_t i = first + 1; i < a.m; ++i)
    for (std::int64_t c = begin; c < end; ++c) a(i, c) -= times(vs(i, j), sum(c));
}

/// Columns `first` and after of all rows of `a` become themselves times (I - tau v v^H).
template <class W>
void reflect_columns(Matrix<W>& a, const Matrix<W>& vs, std::int64_t first, std::int64_t j, W tau,
                     std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    W sum = a(i, first);
    for (std::int64_t c = first + 1; c < a.n; ++c) sum += times(a(i, c), vs(c, j));
    sum = times(sum, tau);
    a(i, first) -= sum;
    for (std::int64_t c = first + 1; c < a.n; ++c) a(i, c) -= times(sum, conj(vs(c, j)));
  }
}

/// geqrf: R on and above the diagonal, reflectors below it.
template <class W>
std::vector<W> qr_in_place(Matrix<W>& a) {
  std::vector<W> taus;
  for (std::int64_t k = 0; k < std::min(a.m, a.n); ++k) {
    taus.push_back(make_reflector(a, k, k));
    if (taus.back() != W(0)) reflect_rows(a, a, k, k, conj(taus.back()), k + 1, a.n);
  }
  return taus;
}

/// The first `columns` columns of H_0 H_1 ...; H_k's v stands in column k of `vs`, from row k +
/// `below` down.
template <class W>
Matrix<W> product_of_reflectors(const Matrix<W>& vs, const std::vector<W>& taus,
                                std::int64_t columns, std::int64_t below = 0) {
  Matrix<W> q{vs.m, columns};
  for (std::int64_t i = 0; i < std::min(vs.m, columns); ++i) q(i, i) = 1;
  for (auto k = static_cast<std::int64_t>(taus.size()); k-- > 0;)
    reflect_rows(q, vs, k + below, k, taus[static_cast<std::size_t>(k)], 0, columns);
  return q;
}

/// Element i of a batch of `size` elements each.
template <class T>
T* element_at(void* base, std::int64_t i, std::int64_t size) {
  return static_cast<T*>(base) + i * size;
}

}  // namespace strata::loop::factor
