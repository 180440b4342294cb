// What tests of large matrices are made of: random numbers, distances, products in f64, the plain
// kernels beside LAPACK's.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "strata/loop/kernel/linalg/large.h"

namespace strata::loop::large::testing {

using Complex = std::complex<double>;
template <class T>
using Array = std::vector<T>;

class PlainKernels {
 public:
  PlainKernels() { testing_hooks::plain_kernels_only(true); }
  ~PlainKernels() { testing_hooks::plain_kernels_only(false); }
};

template <class F>
void for_each_type(F&& f) {
  f(float{}, factor::kF32, 2e-5);
  f(double{}, factor::kF64, 1e-13);
  f(std::complex<float>{}, factor::kC64, 2e-5);
  f(std::complex<double>{}, factor::kC128, 1e-13);
  f(BFloat16{}, factor::kBf16, 2e-2);
  f(Float16{}, factor::kF16, 3e-3);
}

template <class T>
T number(double re, double im) {
  if constexpr (is_complex<T>)
    return T(static_cast<RealOf<T>>(re), static_cast<RealOf<T>>(im));
  else
    return T(static_cast<Computed<T>>(re));
}
template <class T>
Complex wide(T x) {
  return Complex(factor::widen(x));
}
/// Between -1 and 1.
inline double fraction(std::int64_t i) {
  return static_cast<double>(
             static_cast<std::int64_t>((static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15u *
                                       (static_cast<std::uint64_t>(i) | 1)) >>
             8) *
         0x1p-55;
}

template <class T>
Array<T> random(std::int64_t count, std::int64_t seed = 0) {
  Array<T> out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(number<T>(fraction(2 * i + seed), fraction(2 * i + 1 + seed)));
  return out;
}
template <class T>
Array<T> dominant(std::int64_t n, double diagonal) {
  Array<T> out = random<T>(n * n);
  for (std::int64_t i = 0; i < n; ++i)
    out[static_cast<std::size_t>(i * n + i)] = number<T>(diagonal + fraction(i), 0);
  return out;
}

/// The greatest distance of two elements, relative to the greatest element.
template <class T>
double distance(const Array<T>& x, const Array<T>& y) {
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = std::abs(wide(x[i]) - wide(y[i]));
    if (std::isnan(d)) return d;
    most = std::max(most, d);
    scale = std::max(scale, std::abs(wide(y[i])));
  }
  return most / std::max(scale, 1e-300);
}

/// Row-major matrices in f64, for what factors multiply to.
struct Matrix {
  std::int64_t m, n;
  Array<Complex> a;
  Complex operator()(std::int64_t i, std::int64_t j) const {
    return a[static_cast<std::size_t>(i * n + j)];
  }
};
template <class T>
Matrix matrix(const Array<T>& x, std::int64_t m, std::int64_t n) {
  Matrix out{m, n, {}};
  for (const T& each : x) out.a.push_back(wide(each));
  return out;
}
inline Matrix adjoint(const Matrix& x) {
  Matrix out{x.n, x.m, {}};
  for (std::int64_t j = 0; j < x.n; ++j)
    for (std::int64_t i = 0; i < x.m; ++i) out.a.push_back(std::conj(x(i, j)));
  return out;
}
inline Matrix operator*(const Matrix& x, const Matrix& y) {
  Matrix out{x.m, y.n, Array<Complex>(static_cast<std::size_t>(x.m * y.n))};
  for (std::int64_t i = 0; i < x.m; ++i)
    for (std::int64_t k = 0; k < x.n; ++k)
      for (std::int64_t j = 0; j < y.n; ++j)
        out.a[static_cast<std::size_t>(i * y.n + j)] += x(i, k) * y(k, j);
  return out;
}
inline Matrix diagonal(const Array<Complex>& d, std::int64_t m, std::int64_t n) {
  Matrix out{m, n, Array<Complex>(static_cast<std::size_t>(m * n))};
  for (std::size_t i = 0; i < d.size(); ++i) out.a[i * static_cast<std::size_t>(n) + i] = d[i];
  return out;
}
inline void expect_unitary(const Matrix& q, double bound) {
  EXPECT_LT(distance((adjoint(q) * q).a,
                     diagonal(Array<Complex>(static_cast<std::size_t>(q.n), 1), q.n, q.n).a),
            bound);
}
template <class T>
Array<Complex> complex_numbers(const Array<T>& x) {
  return matrix(x, 1, static_cast<std::int64_t>(x.size())).a;
}

template <class T>
Array<T> array(std::int64_t count) {
  return Array<T>(static_cast<std::size_t>(count));
}

}  // namespace strata::loop::large::testing
