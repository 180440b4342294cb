// Small matrices in lanes: the bits of the plain kernels, for each instruction set that this CPU
// has.
#include "strata/loop/kernel/linalg/small.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "strata/loop/kernel/native.h"
#include "strata/loop/testing/matrices.h"

namespace strata::loop::small {
namespace {

constexpr std::int64_t kBatch = 11;  // no multiple of lanes

std::vector<const InstructionSet*> sets() {
  std::vector<const InstructionSet*> out;
  for (const InstructionSet* set : {&kPortable, &kAvx2, &kAvx512})
    if (set->present()) out.push_back(set);
  return out;
}

template <class T>
struct Numbers {
  std::vector<T> values;
  void* at(std::int64_t i = 0) { return values.data() + i; }
  explicit Numbers(std::int64_t count) : values(static_cast<std::size_t>(count), T{}) {}
};

/// The imaginary parts of complex numbers are other fractions.
template <class T>
T number(double re, std::int64_t place) {
  const auto narrow = static_cast<float>(re);
  if constexpr (factor::is_complex<T>)
    return T(narrow,
             place % 13 == 0
                 ? 0
                 : static_cast<float>(
                       std::fmod(static_cast<double>(place) * 0.7548776662466927, 1.0) - 0.5));
  else
    return T(narrow);
}

/// Between -1 and 1, with zeros and equal sizes among them; plus `diagonal` on the diagonals of
/// square matrices. Matrix 3 has a NaN, matrix 5 is zero.
template <class T>
Numbers<T> matrices(std::int64_t rows, std::int64_t columns, double diagonal) {
  Numbers<T> out(kBatch * rows * columns);
  for (std::int64_t e = 0; e < static_cast<std::int64_t>(out.values.size()); ++e) {
    const std::int64_t i = e / columns % rows, j = e % columns, matrix = e / (rows * columns);
    double x = std::fmod(static_cast<double>(e) * 0.6180339887498949, 1.0) * 2 - 1;
    if (e % 7 == 0) x = 0;
    if (e % 11 == 0) x = -0.5;
    if (i == j) x += diagonal;
    if (matrix == 3 && e % 5 == 0) x = std::numeric_limits<double>::quiet_NaN();
    out.values[static_cast<std::size_t>(e)] = matrix == 5 ? T() : number<T>(x, e);
  }
  return out;
}

/// Equal bits, but for those of NaN.
template <class T>
void expect_same(const Numbers<T>& got, const Numbers<T>& want, const std::string& what) {
  using R = factor::RealOf<T>;
  const auto *g = reinterpret_cast<const R*>(got.values.data()),
             *w = reinterpret_cast<const R*>(want.values.data());
  for (std::size_t i = 0; i < want.values.size() * sizeof(T) / sizeof(R); ++i) {
    if (std::isnan(factor::widen(g[i])) && std::isnan(factor::widen(w[i]))) continue;
    ASSERT_EQ(std::memcmp(g + i, w + i, sizeof(R)), 0)
        << what << ", part " << i << ": " << factor::widen(g[i]) << " and " << factor::widen(w[i]);
  }
}

template <class F>
void for_each_type(F&& f) {
  f(float{}, factor::kF32);
  f(double{}, factor::kF64);
  f(BFloat16{}, factor::kBf16);
  f(Float16{}, factor::kF16);
  f(std::complex<float>{}, factor::kC64);
  f(std::complex<double>{}, factor::kC128);
}
std::string name(const InstructionSet& set, std::int64_t element, std::int64_t n) {
  return std::string(set.name) + ", type " + std::to_string(element) + ", " + std::to_string(n);
}

TEST(Small, CholeskyIsThatOfOneMatrix) {
  for_each_type([]<class T>(T, std::int64_t element) {
    for (std::int64_t n : {0, 1, 2, 5, 8, 16})
      for (std::int64_t lower : {0, 1}) {
        auto in = matrices<T>(n, n, static_cast<double>(n) - 1);  // some are not positive definite
        Numbers<T> want(kBatch * n * n), got(kBatch * n * n);
        for (std::int64_t i = 0; i < kBatch; ++i)
          run_native("strata_cholesky", {in.at(i * n * n), want.at(i * n * n)},
                     {element, lower, n, 1}, 1);
        for (const InstructionSet* set : sets()) {
          void* buffers[] = {in.at(), got.at()};
          set->cholesky(buffers, {element, lower, n, kBatch}, {0, kBatch});
          expect_same(got, want, name(*set, element, n));
        }
        run_native("strata_cholesky", {in.at(), got.at()}, {element, lower, n, kBatch},
                   points(kBatch, n, n));
        expect_same(got, want, "by the grid");
      }
  });
}

TEST(Small, LuIsThatOfOneMatrix) {
  for_each_type([]<class T>(T, std::int64_t element) {
    for (auto [m, n] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {4, 4}, {3, 7}, {7, 3}, {16, 16}, {2, 0}}) {
      const std::int64_t least = std::min(m, n);
      auto in = matrices<T>(m, n, 0);
      Numbers<T> want(kBatch * m * n), got(kBatch * m * n);
      Numbers<std::int32_t> pivots(kBatch * least), permutation(kBatch * m),
          got_pivots(kBatch * least), got_permutation(kBatch * m);
      for (std::int64_t i = 0; i < kBatch; ++i)
        run_native(
            "strata_lu",
            {in.at(i * m * n), want.at(i * m * n), pivots.at(i * least), permutation.at(i * m)},
            {element, m, n, 1}, 1);
      for (const InstructionSet* set : sets()) {
        void* buffers[] = {in.at(), got.at(), got_pivots.at(), got_permutation.at()};
        set->lu(buffers, {element, m, n, kBatch}, {0, kBatch});
        expect_same(got, want, name(*set, element, n));
        EXPECT_EQ(got_pivots.values, pivots.values) << name(*set, element, n);
        EXPECT_EQ(got_permutation.values, permutation.values) << name(*set, element, n);
      }
    }
  });
}

/// One matrix and one right hand side at a time are solved by the plain kernel.
template <class T>
Numbers<T> solved_one_by_one(Numbers<T>& a, Numbers<T>& b, TriangularParams p) {
  Numbers<T> out(p.batch * p.n * p.m);
  const std::int64_t side = p.left ? 1 : p.n, step = p.left ? p.m : 1;
  for (std::int64_t i = 0; i < p.batch; ++i)
    for (std::int64_t v = 0; v < p.m; ++v) {
      Numbers<T> rhs(p.n), x(p.n);
      const std::int64_t first = i * p.n * p.m + v * side;
      for (std::int64_t k = 0; k < p.n; ++k)
        rhs.values[static_cast<std::size_t>(k)] =
            b.values[static_cast<std::size_t>(first + k * step)];
      run_native("strata_triangular_solve", {a.at(i * p.n * p.n), rhs.at(), x.at()},
                 {p.element, p.left, p.lower, p.unit, p.op, p.n, 1, 1}, 1);
      for (std::int64_t k = 0; k < p.n; ++k)
        out.values[static_cast<std::size_t>(first + k * step)] =
            x.values[static_cast<std::size_t>(k)];
    }
  return out;
}

TEST(Small, TriangularSystemsAreThoseOfOneMatrixAndSide) {
  const large::testing::PlainKernels plain;
  for_each_type([]<class T>(T, std::int64_t element) {
    for (auto [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                        {4, 1},
                        {5, 3},
                        {16, 16},
                        {3, 37},
                        {24, 2},
                        {20, 19}})
      for (std::int64_t flags = 0; flags < 24; ++flags) {
        const TriangularParams p{element, flags & 1, flags >> 1 & 1, flags >> 2 & 1, flags >> 3,
                                 n,       m,         kBatch};
        auto a = matrices<T>(n, n, 2), b = p.left ? matrices<T>(n, m, 0) : matrices<T>(m, n, 0);
        const Numbers<T> want = solved_one_by_one(a, b, p);
        Numbers<T> got(kBatch * n * m);
        run_native("strata_triangular_solve", {a.at(), b.at(), got.at()},
                   {element, p.left, p.lower, p.unit, p.op, n, m, kBatch},
                   triangular_points(kBatch, n, m));
        expect_same(got, want, "by the grid, " + std::to_string(n) + " and " + std::to_string(m));
        std::vector<double> scratch(static_cast<std::size_t>(2 * n * kSides));
        for (const InstructionSet* set : sets()) {
          got = Numbers<T>(kBatch * n * m);
          void* buffers[] = {a.at(), b.at(), got.at()};
          if (n <= kMost)
            set->triangular_solve(buffers, p, {0, kBatch});
          else
            for (std::int64_t i = 0; i < kBatch; ++i)
              for (std::int64_t v = 0; v < m; v += kSides)
                set->right_sides(buffers, p, i, {v, std::min(v + kSides, m)}, scratch.data());
          expect_same(got, want, name(*set, element, n));
        }
      }
  });
}

TEST(Small, QuotientsOfComplexNumbersAreThoseOfOne) {
  const double inf = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> parts = {0.0,   -0.0, 0.7,    -1.3,  5e-324, 1e-310, -1e-290,
                                     1e-62, 1e61, -3e160, 1e300, -inf,   nan};
  Numbers<std::complex<double>> numbers(0);
  for (double re : parts)
    for (double im : parts) numbers.values.emplace_back(re, im);
  const auto count = static_cast<std::int64_t>(numbers.values.size());
  for (std::int64_t shift = 0; shift < count; ++shift) {
    Numbers<std::complex<double>> by(count), want(count), got(count);
    for (std::int64_t i = 0; i < count; ++i) {
      by.values[static_cast<std::size_t>(i)] =
          numbers.values[static_cast<std::size_t>((i + shift) % count)];
      want.values[static_cast<std::size_t>(i)] =
          numbers.values[static_cast<std::size_t>(i)] / by.values[static_cast<std::size_t>(i)];
    }
    const TriangularParams p{factor::kC128, 1, 1, 0, 0, 1, 1, count};
    for (const InstructionSet* set : sets()) {
      void* buffers[] = {by.at(), numbers.at(), got.at()};
      set->triangular_solve(buffers, p, {0, count});
      expect_same(got, want, name(*set, factor::kC128, shift));
    }
  }
}

}  // namespace
}  // namespace strata::loop::small
