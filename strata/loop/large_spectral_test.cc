// Large matrices by LAPACK whose factors are not unique, or are unstable: what they multiply to and
// look like, not the plain kernels' numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "strata/loop/kernel/native.h"
#include "strata/loop/testing/matrices.h"

namespace strata::loop::large {
namespace {

using namespace testing;

using Vector = Array<Complex>;

/// q (I - tau v v^H)
void reflect(Matrix& q, const Vector& v, Complex tau) {
  for (std::int64_t i = 0; i < q.m; ++i) {
    Complex* row = q.a.data() + i * q.n;
    const Complex sum = tau * std::inner_product(v.begin(), v.end(), row, Complex(0));
    for (std::int64_t j = 0; j < q.n; ++j)
      row[j] -= sum * std::conj(v[static_cast<std::size_t>(j)]);
  }
}
Matrix identity(std::int64_t n) { return diagonal(Vector(static_cast<std::size_t>(n), 1), n, n); }

/// H_0 H_1 ...: H_k's v stands in column k from row k + 1 down, where it is 1.
Matrix product_from_below(const Matrix& factors, const Vector& taus) {
  Matrix q = identity(factors.n);
  for (std::int64_t k = 0; k + 1 < factors.n; ++k) {
    Vector v(static_cast<std::size_t>(factors.n));
    v[static_cast<std::size_t>(k + 1)] = 1;
    for (std::int64_t i = k + 2; i < factors.n; ++i) v[static_cast<std::size_t>(i)] = factors(i, k);
    reflect(q, v, taus[static_cast<std::size_t>(k)]);
  }
  return q;
}
/// ... H_1 H_0: H_k's v stands in column k + 1 above row k, where it is 1.
Matrix product_from_above(const Matrix& factors, const Vector& taus) {
  Matrix q = identity(factors.n);
  for (std::int64_t k = factors.n - 1; k-- > 0;) {
    Vector v(static_cast<std::size_t>(factors.n));
    v[static_cast<std::size_t>(k)] = 1;
    for (std::int64_t i = 0; i < k; ++i) v[static_cast<std::size_t>(i)] = factors(i, k + 1);
    reflect(q, v, taus[static_cast<std::size_t>(k)]);
  }
  return q;
}

template <class T>
void expect_nan(const Array<T>& x) {
  for (const T& each : x) EXPECT_TRUE(std::isnan(wide(each).real()));
}

TEST(Large, PivotedQr) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    for (auto [m, n] :
         {std::pair<std::int64_t, std::int64_t>{17, 17}, {70, 70}, {90, 33}, {33, 90}}) {
      const std::int64_t k = std::min(m, n);
      auto a = random<T>(m * n), factors = array<T>(m * n), taus = array<T>(k);
      auto columns = array<std::int32_t>(n);
      run_native("strata_geqp3", {a.data(), factors.data(), columns.data(), taus.data()},
                 {element, m, n, k}, 1);
      Matrix r{k, n, {}}, exchanged{m, n, {}};
      const Matrix f = matrix(factors, m, n), original = matrix(a, m, n);
      for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j < n; ++j) r.a.push_back(j >= i ? f(i, j) : 0.0);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          exchanged.a.push_back(original(i, columns[static_cast<std::size_t>(j)]));
      auto reflectors = array<T>(m * k), q = reflectors;
      for (std::int64_t i = 0; i < m; ++i)
        std::copy_n(factors.begin() + i * n, k, reflectors.begin() + i * k);
      run_native("strata_householder_product", {reflectors.data(), taus.data(), q.data()},
                 {element, m, k, k}, 1);
      expect_unitary(matrix(q, m, k), 20 * bound);
      EXPECT_LT(distance((matrix(q, m, k) * r).a, exchanged.a), 20 * bound)
          << element << " " << m << " " << n;
      // What a diagonal element is of its column was no less for any column after it.
      for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = i + 1; j < n; ++j) {
          double rest = 0;
          for (std::int64_t l = i; l <= std::min(j, k - 1); ++l) rest += std::norm(r(l, j));
          EXPECT_GE(std::abs(r(i, i)) * (1 + 20 * bound) + bound, std::sqrt(rest));
        }
      std::sort(columns.begin(), columns.end());
      for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(columns[static_cast<std::size_t>(j)], j);
    }
  });
}

TEST(Large, PivotedQrOfWhatIsNotFiniteIsThatOfThePlainKernel) {
  const std::int64_t n = 20;
  auto a = random<float>(n * n), want = array<float>(n * n), got = want, taus = array<float>(n),
       want_taus = taus;
  a[45] = std::numeric_limits<float>::quiet_NaN();
  auto p = array<std::int32_t>(n), q = p;
  run_native("strata_geqp3", {a.data(), got.data(), p.data(), taus.data()}, {factor::kF32, n, n, n},
             1);
  {
    PlainKernels plain;
    run_native("strata_geqp3", {a.data(), want.data(), q.data(), want_taus.data()},
               {factor::kF32, n, n, n}, 1);
  }
  EXPECT_EQ(p, q);
  EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0);
}

TEST(Large, Hessenberg) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    for (std::int64_t n : {17, 60}) {
      auto a = random<T>(n * n), factors = a, taus = array<T>(n - 1);
      run_native("strata_hessenberg", {a.data(), factors.data(), taus.data()}, {element, n}, 1);
      Matrix h = matrix(factors, n, n);
      const Matrix q = product_from_below(h, complex_numbers(taus));
      for (std::int64_t i = 2; i < n; ++i) std::fill_n(h.a.begin() + i * n, i - 1, 0.0);
      expect_unitary(q, 20 * bound);
      EXPECT_LT(distance((q * h * adjoint(q)).a, matrix(a, n, n).a), 40 * bound)
          << element << " " << n;
      if (n > 17 || sizeof(T) == 2)
        continue;  // later columns follow from rounding in the first ones
      auto want = factors, want_taus = taus;
      {
        PlainKernels plain;
        run_native("strata_hessenberg", {a.data(), want.data(), want_taus.data()}, {element, n}, 1);
      }
      EXPECT_LT(distance(factors, want), 100 * bound) << element;
      EXPECT_LT(distance(taus, want_taus), 100 * bound) << element;
    }
  });
}

TEST(Large, Tridiagonal) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    using R = RealOf<T>;
    for (std::int64_t n : {17, 60})
      for (std::int64_t lower : {0, 1}) {
        auto a = random<T>(n * n), factors = a, taus = array<T>(n - 1);
        auto line = array<R>(n), beside = array<R>(n - 1);
        run_native("strata_tridiagonal",
                   {a.data(), factors.data(), line.data(), beside.data(), taus.data()},
                   {element, n, lower}, 1);
        const Matrix f = matrix(factors, n, n), original = matrix(a, n, n);
        Matrix t = diagonal(complex_numbers(line), n, n), full = original;
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const bool is_read = lower ? j <= i : j >= i;
            if (!is_read) {
              EXPECT_EQ(f(i, j), original(i, j)) << "the other triangle";
            }
            full.a[static_cast<std::size_t>(i * n + j)] = i == j    ? original(i, i).real()
                                                          : is_read ? original(i, j)
                                                                    : std::conj(original(j, i));
            if (std::abs(i - j) == 1)
              t.a[static_cast<std::size_t>(i * n + j)] =
                  complex_numbers(beside)[static_cast<std::size_t>(std::min(i, j))];
            if (is_read && std::abs(i - j) < 2) {
              EXPECT_EQ(f(i, j), t(i, j));
            }
          }
        const Matrix q = lower ? product_from_below(f, complex_numbers(taus))
                               : product_from_above(f, complex_numbers(taus));
        expect_unitary(q, 20 * bound);
        EXPECT_LT(distance((q * t * adjoint(q)).a, full.a), 40 * bound)
            << element << " " << n << " " << lower;
      }
  });
}

/// Blocks of two rows stand where eigenvalues are not real, with equal diagonal elements and others
/// of different signs.
template <class T>
void expect_schur_form(const Matrix& t) {
  auto below = [&](std::int64_t i) { return i < t.n ? t(i, i - 1) : 0.0; };
  for (std::int64_t i = 1; i < t.n; ++i) {
    for (std::int64_t j = 0; j + 1 < i; ++j) EXPECT_EQ(t(i, j), 0.0);
    if (below(i) == 0.0) continue;
    EXPECT_FALSE(is_complex<T>);
    EXPECT_EQ(below(i + 1), 0.0);
    EXPECT_EQ(t(i, i), t(i - 1, i - 1));
    EXPECT_LT(t(i, i - 1).real() * t(i - 1, i).real(), 0);
  }
}

TEST(Large, Schur) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    for (std::int64_t n : {17, 60}) {
      auto a = random<T>(n * n), form = a, vectors = a;
      auto run = [&] {
        run_native("strata_schur", {a.data(), form.data(), vectors.data()}, {element, n}, 1);
      };
      run();
      const Matrix t = matrix(form, n, n), q = matrix(vectors, n, n);
      expect_schur_form<T>(t);
      expect_unitary(q, 20 * bound);
      EXPECT_LT(distance((q * t * adjoint(q)).a, matrix(a, n, n).a), 40 * bound)
          << element << " " << n;
      a[5] = not_a_number<T>();
      run();
      expect_nan(form);
      expect_nan(vectors);
    }
  });
}

/// Of length 1, with a real component of the greatest size; `real` throughout where the eigenvalue
/// is.
void expect_normal(const Matrix& v, std::int64_t j, bool real, double bound) {
  double length = 0, most = 0, greatest_real = 0;
  for (std::int64_t i = 0; i < v.m; ++i) {
    length += std::norm(v(i, j));
    most = std::max(most, std::abs(v(i, j)));
    if (v(i, j).imag() == 0) greatest_real = std::max(greatest_real, std::abs(v(i, j)));
    if (real) {
      EXPECT_EQ(v(i, j).imag(), 0);
    }
  }
  EXPECT_NEAR(length, 1, 20 * bound);
  EXPECT_GE(greatest_real, most * (1 - 20 * bound));
}

Vector in_order(Vector w) {
  std::sort(w.begin(), w.end(), [](Complex x, Complex y) {
    return std::abs(x.real() - y.real()) > 1e-4 ? x.real() < y.real() : x.imag() < y.imag();
  });
  return w;
}

TEST(Large, Eig) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    if constexpr (sizeof(T) > 2) {
      using C = std::complex<RealOf<T>>;
      for (std::int64_t n : {17, 60}) {
        auto a = random<T>(n * n);
        auto w = array<C>(n), alone = w, beside = w, plain = w, left = array<C>(n * n),
             right = left, only = left;
        run_native("strata_eig", {a.data(), w.data(), left.data(), right.data()}, {element, n}, 1);
        run_native("strata_eigenvalues", {a.data(), alone.data()}, {element, n}, 1);
        run_native("strata_right_eigenvectors", {a.data(), beside.data(), only.data()},
                   {element, n}, 1);
        {
          PlainKernels hook;
          run_native("strata_eigenvalues", {a.data(), plain.data()}, {element, n}, 1);
        }
        EXPECT_LT(distance(in_order(complex_numbers(w)), in_order(complex_numbers(plain))),
                  100 * bound)
            << element << " " << n;
        EXPECT_LT(distance(in_order(complex_numbers(alone)), in_order(complex_numbers(plain))),
                  100 * bound)
            << element << " " << n;
        EXPECT_EQ(beside, w);
        EXPECT_EQ(only, right);
        const Matrix v = matrix(right, n, n), u = matrix(left, n, n), x = matrix(a, n, n),
                     values = diagonal(complex_numbers(w), n, n);
        EXPECT_LT(distance((x * v).a, (v * values).a), 100 * bound) << element << " " << n;
        EXPECT_LT(distance((adjoint(u) * x).a, (values * adjoint(u)).a), 100 * bound)
            << element << " " << n;
        for (std::int64_t j = 0; j < n; ++j)
          for (const Matrix* vectors : {&v, &u})
            expect_normal(*vectors, j, !is_complex<T> && values(j, j).imag() == 0, bound);
        for (std::int64_t j = 0; !is_complex<T> && j < n; ++j) {
          if (values(j, j).imag() == 0) continue;
          EXPECT_GT(values(j, j).imag(), 0);
          EXPECT_EQ(values(j + 1, j + 1), std::conj(values(j, j)));
          for (std::int64_t i = 0; i < n; ++i) {
            EXPECT_EQ(v(i, j + 1), std::conj(v(i, j)));
            EXPECT_EQ(u(i, j + 1), std::conj(u(i, j)));
          }
          ++j;
        }
        a[4] = not_a_number<T>();
        run_native("strata_eig", {a.data(), w.data(), left.data(), right.data()}, {element, n}, 1);
        for (const auto* results : {&w, &left, &right}) expect_nan(*results);
      }
    }
  });
}

TEST(Large, BitsOfEigenvectorsDoNotDependOnWhereAMatrixLies) {
  const std::int64_t n = 37;
  auto once = random<float>(n * n);
  Array<float> all;
  while (all.size() < 3 * once.size()) all.insert(all.end(), once.begin(), once.end());
  auto w = array<std::complex<float>>(3 * n), v = array<std::complex<float>>(3 * n * n);
  run_native("strata_right_eigenvectors", {all.data(), w.data(), v.data()}, {factor::kF32, n}, 3);
  for (std::int64_t i : {1, 2}) {
    EXPECT_EQ(std::memcmp(w.data(), w.data() + i * n, static_cast<std::size_t>(n) * sizeof(w[0])),
              0);
    EXPECT_EQ(
        std::memcmp(v.data(), v.data() + i * n * n, static_cast<std::size_t>(n * n) * sizeof(v[0])),
        0);
  }
}

}  // namespace
}  // namespace strata::loop::large
