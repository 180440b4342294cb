// Large matrices by LAPACK beside the plain kernels: what is unique is near, what is not multiplies
// to the matrix again.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "strata/loop/kernel/native.h"
#include "strata/loop/testing/matrices.h"

namespace strata::loop::large {
namespace {

using namespace testing;

TEST(Large, IsWhatIsNotSmall) {
  EXPECT_FALSE(by_lapack(16, 16));
  EXPECT_TRUE(by_lapack(17, 17));
  EXPECT_TRUE(by_lapack(3, 17));
  EXPECT_FALSE(by_lapack(0, 17));
  PlainKernels plain;
  EXPECT_FALSE(by_lapack(17, 17));
}

TEST(Large, Cholesky) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    for (std::int64_t n : {17, 50, 129})
      for (std::int64_t lower : {0, 1}) {
        auto a = dominant<T>(n, 20), want = array<T>(n * n), got = array<T>(n * n);
        auto run = [&](Array<T>& out) {
          run_native("strata_cholesky", {a.data(), out.data()}, {element, lower, n, 1}, 1);
        };
        run(got);
        {
          PlainKernels plain;
          run(want);
        }
        EXPECT_LT(distance(got, want), bound) << element << " " << n;
        for (const T& hole : {number<T>(-1, 0), not_a_number<T>()}) {
          a[static_cast<std::size_t>(n + 1)] = hole;
          run(got);
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
              const Complex x = wide(got[static_cast<std::size_t>(i * n + j)]);
              EXPECT_TRUE((lower ? j <= i : j >= i) ? std::isnan(x.real()) : x == 0.0);
            }
        }
      }
  });
}

TEST(Large, Lu) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    for (auto [m, n] :
         {std::pair<std::int64_t, std::int64_t>{17, 17}, {70, 70}, {90, 33}, {33, 90}, {3, 40}}) {
      auto a = random<T>(m * n), want = array<T>(m * n), got = array<T>(m * n);
      auto p = array<std::int32_t>(std::min(m, n)), q = p, r = array<std::int32_t>(m), s = r;
      run_native("strata_lu", {a.data(), got.data(), p.data(), r.data()}, {element, m, n, 1}, 1);
      {
        PlainKernels plain;
        run_native("strata_lu", {a.data(), want.data(), q.data(), s.data()}, {element, m, n, 1}, 1);
      }
      // Which of two rows of nearly equal size goes first, rounding decides, and differs from one
      // processor's library to the next.
      bool is_close = false;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < std::min(i, n); ++j) {
          const Complex x = wide(want[static_cast<std::size_t>(i * n + j)]),
                        y = wide(got[static_cast<std::size_t>(i * n + j)]);
          EXPECT_LE(std::abs(y), std::sqrt(2.0) * (1 + bound)) << i << " " << j;
          is_close |= std::abs(std::abs(x.real()) + std::abs(x.imag()) - 1) < bound;
        }
      if (!is_close) {
        EXPECT_EQ(p, q);
        EXPECT_EQ(r, s);
        EXPECT_LT(distance(got, want), 20 * bound) << element << " " << m << " " << n;
      }
      Matrix l{m, std::min(m, n), {}}, u{std::min(m, n), n, {}}, rows{m, n, {}};
      const Matrix f = matrix(got, m, n), original = matrix(a, m, n);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < l.n; ++j) l.a.push_back(j < i ? f(i, j) : j == i ? 1.0 : 0.0);
      for (std::int64_t i = 0; i < u.m; ++i)
        for (std::int64_t j = 0; j < n; ++j) u.a.push_back(j >= i ? f(i, j) : 0.0);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          rows.a.push_back(original(r[static_cast<std::size_t>(i)], j));
      EXPECT_LT(distance((l * u).a, rows.a), 10 * bound) << element << " " << m << " " << n;
    }
  });
}

TEST(Large, TriangularSystems) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    for (auto [n, m] : {std::pair<std::int64_t, std::int64_t>{17, 17}, {40, 65}, {65, 150}})
      for (std::int64_t flags = 0; flags < 24; ++flags) {
        const small::TriangularParams p{
            element, flags & 1, flags >> 1 & 1, flags >> 2 & 1, flags >> 3, n, m, 2};
        auto a = dominant<T>(n, 20), b = random<T>(2 * n * m), want = array<T>(2 * n * m),
             got = want;
        for (std::int64_t i = 0; i < n * n; ++i) {
          T& x = a[static_cast<std::size_t>(i)];
          if (p.unit)
            x = number<T>(
                wide(x).real() / 40 / static_cast<double>(n),
                wide(x).imag() / 40 / static_cast<double>(n));  // else solutions grow with each row
          if ((p.lower ? i / n < i % n : i / n > i % n) || (p.unit && i / n == i % n))
            x = not_a_number<T>();  // nobody reads it
        }
        const auto once = a;
        a.insert(a.end(), once.begin(), once.end());
        const std::int64_t points = small::triangular_points(2, n, m);
        auto run = [&](Array<T>& out) {
          run_native("strata_triangular_solve", {a.data(), b.data(), out.data()},
                     {element, p.left, p.lower, p.unit, p.op, n, m, 2}, points);
        };
        run(got);
        {
          PlainKernels plain;
          run(want);
        }
        EXPECT_LT(distance(got, want), bound) << element << " " << n << " " << m << " " << flags;
      }
  });
}

TEST(Large, LuOfWhatIsNotFiniteIsThatOfThePlainKernel) {
  const std::int64_t n = 20;
  auto a = random<float>(n * n), want = array<float>(n * n), got = want;
  a[45] = std::numeric_limits<float>::quiet_NaN();
  auto p = array<std::int32_t>(n), q = p, r = p, s = p;
  run_native("strata_lu", {a.data(), got.data(), p.data(), r.data()}, {factor::kF32, n, n, 1}, 1);
  {
    PlainKernels plain;
    run_native("strata_lu", {a.data(), want.data(), q.data(), s.data()}, {factor::kF32, n, n, 1},
               1);
  }
  EXPECT_EQ(p, q);
  EXPECT_EQ(r, s);
  EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0);
}

TEST(Large, Qr) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    for (auto [m, n] :
         {std::pair<std::int64_t, std::int64_t>{17, 17}, {70, 70}, {90, 33}, {33, 90}, {100, 2}}) {
      const std::int64_t k = std::min(m, n);
      auto a = random<T>(m * n), want = array<T>(m * n), got = want, taus = array<T>(k),
           want_taus = taus;
      run_native("strata_geqrf", {a.data(), got.data(), taus.data()}, {element, m, n, k}, 1);
      {
        PlainKernels plain;
        run_native("strata_geqrf", {a.data(), want.data(), want_taus.data()}, {element, m, n, k},
                   1);
      }
      EXPECT_LT(distance(got, want), 20 * bound) << element << " " << m << " " << n;
      EXPECT_LT(distance(taus, want_taus), 20 * bound);
      if (m < n) continue;
      auto q = array<T>(m * n), want_q = q;
      run_native("strata_householder_product", {got.data(), taus.data(), q.data()},
                 {element, m, n, k}, 1);
      {
        PlainKernels plain;
        run_native("strata_householder_product", {got.data(), taus.data(), want_q.data()},
                   {element, m, n, k}, 1);
      }
      EXPECT_LT(distance(q, want_q), 10 * bound);
      expect_unitary(matrix(q, m, n), 20 * bound);
    }
  });
}

TEST(Large, Eigh) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    using R = RealOf<T>;
    for (std::int64_t n : {17, 60}) {
      auto a = dominant<T>(n, 1), v = array<T>(n * n), want_v = v;
      auto w = array<R>(n), want_w = w;
      run_native("strata_eigh", {a.data(), v.data(), w.data()}, {element, n}, 1);
      {
        PlainKernels plain;
        run_native("strata_eigh", {a.data(), want_v.data(), want_w.data()}, {element, n}, 1);
      }
      EXPECT_LT(distance(w, want_w), 5 * bound) << element << " " << n;
      Matrix full = matrix(a, n, n);  // of which the lower triangle counts
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n; ++j)
          full.a[static_cast<std::size_t>(i * n + j)] = std::conj(full(j, i));
      const Matrix vectors = matrix(v, n, n);
      EXPECT_LT(
          distance((vectors * diagonal(complex_numbers(w), n, n) * adjoint(vectors)).a, full.a),
          40 * bound);
      expect_unitary(vectors, 20 * bound);
      a[static_cast<std::size_t>(n)] = not_a_number<T>();
      run_native("strata_eigh", {a.data(), v.data(), w.data()}, {element, n}, 1);
      for (const R& x : w) EXPECT_TRUE(std::isnan(wide(x).real()));
    }
  });
}

TEST(Large, Svd) {
  for_each_type([]<class T>(T, std::int64_t element, double bound) {
    using R = RealOf<T>;
    for (auto [m, n] :
         {std::pair<std::int64_t, std::int64_t>{17, 17}, {60, 60}, {70, 30}, {30, 70}})
      for (std::int64_t full : {0, 1}) {
        const std::int64_t k = std::min(m, n), columns = full ? m : k, rows = full ? n : k;
        auto a = random<T>(m * n), u = array<T>(m * columns), vh = array<T>(rows * n);
        auto s = array<R>(k), alone = s, want = s;
        run_native("strata_svd", {a.data(), s.data(), u.data(), vh.data()}, {element, m, n, full},
                   1);
        run_native("strata_singular_values", {a.data(), alone.data()}, {element, m, n, full}, 1);
        {
          PlainKernels plain;
          run_native("strata_singular_values", {a.data(), want.data()}, {element, m, n, full}, 1);
        }
        EXPECT_LT(distance(s, want), 5 * bound) << element << " " << m << " " << n;
        EXPECT_LT(distance(alone, want), 5 * bound);
        const Matrix left = matrix(u, m, columns), right = matrix(vh, rows, n);
        EXPECT_LT(distance((left * diagonal(complex_numbers(s), columns, rows) * right).a,
                           matrix(a, m, n).a),
                  40 * bound);
        expect_unitary(left, 20 * bound);
        expect_unitary(adjoint(right), 20 * bound);
        a[3] = number<T>(std::numeric_limits<double>::infinity(), 0);
        run_native("strata_svd", {a.data(), s.data(), u.data(), vh.data()}, {element, m, n, full},
                   1);
        for (const R& x : s) EXPECT_TRUE(std::isnan(wide(x).real()));
        for (const T& x : vh) EXPECT_TRUE(std::isnan(wide(x).real()));
      }
  });
}

TEST(Large, BitsDoNotDependOnWhereAMatrixLies) {
  const std::int64_t n = 37, m = 29;  // what follows is at odd addresses
  auto once = random<float>(m * n);
  Array<float> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  twice.insert(twice.end(), once.begin(), once.end());
  auto s = array<float>(3 * m), u = array<float>(3 * m * m), vh = array<float>(3 * m * n);
  run_native("strata_svd", {twice.data(), s.data(), u.data(), vh.data()}, {factor::kF32, m, n, 0},
             3);
  for (int i : {1, 2}) {
    EXPECT_EQ(std::memcmp(s.data(), s.data() + i * m, static_cast<std::size_t>(m) * sizeof(float)),
              0);
    EXPECT_EQ(std::memcmp(u.data(), u.data() + i * m * m,
                          static_cast<std::size_t>(m * m) * sizeof(float)),
              0);
    EXPECT_EQ(std::memcmp(vh.data(), vh.data() + i * m * n,
                          static_cast<std::size_t>(m * n) * sizeof(float)),
              0);
  }
}

}  // namespace
}  // namespace strata::loop::large
