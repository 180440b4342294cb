// The kernels of small.h for one instruction set, which L gives: F, a vector of kWidth doubles, and its square roots.
//
// Included by small_avx2.cc and its neighbours, each of which is compiled for its own instructions.
#pragma once

#include "strata/loop/kernel/small.h"

namespace strata::loop::small {
namespace {

#define STRATA_SMALL inline __attribute__((always_inline))

using factor::narrow;
using factor::widen;

/// The matrices of one vector; where there are fewer than lanes, the last one again.
template <class L, class T>
struct Matrices {
  using F = typename L::F;
  T* at[L::kWidth];
  std::int64_t count;

  Matrices(void* base, Range range, std::int64_t first, std::int64_t size) : count(range.end - first < L::kWidth ? range.end - first : L::kWidth) {
    for (std::int64_t l = 0; l < L::kWidth; ++l) at[l] = static_cast<T*>(base) + (first + (l < count ? l : count - 1)) * size;
  }
  STRATA_SMALL F load(std::int64_t i) const {
    F x;
    for (int l = 0; l < L::kWidth; ++l) x[l] = widen(at[l][i]);
    return x;
  }
  STRATA_SMALL void store(std::int64_t i, F x) const {
    if (count == L::kWidth)
      for (int l = 0; l < L::kWidth; ++l) at[l][i] = narrow<T>(x[l]);
    else
      for (std::int64_t l = 0; l < count; ++l) at[l][i] = narrow<T>(x[l]);
  }
  /// Whole numbers, at most as many as 32 bits hold.
  STRATA_SMALL void store_index(std::int64_t i, F x) const {
    for (std::int64_t l = 0; l < count; ++l) at[l][i] = static_cast<T>(x[l]);
  }
};

template <class L>
STRATA_SMALL typename L::F all(double x) { return x - typename L::F{}; }

/// Calls f(T{}, first) for each vector of matrices.
template <class L, class F>
void each(std::int64_t element, Range range, F&& f) {
  factor::dispatch(element, [&]<class T>(T) {
    if constexpr (has_lanes<T>)
      for (std::int64_t first = range.begin; first < range.end; first += L::kWidth) f(T{}, first);
  });
}

template <class L>
STRATA_SMALL void factorise_positive(typename L::F* a, std::int64_t n, typename L::Mask& fine) {
  using F = typename L::F;
  for (std::int64_t k = 0; k < n; ++k) {
    fine &= a[k * n + k] > all<L>(0);
    const F root = a[k * n + k] = L::sqrt(a[k * n + k]);
    for (std::int64_t i = k + 1; i < n; ++i) a[i * n + k] = a[i * n + k] / root;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const F left = a[i * n + k];
      for (std::int64_t j = k + 1; j <= i; ++j) a[i * n + j] -= left * a[j * n + k];
    }
  }
}

template <class L>
void cholesky(void* const* buffers, const CholeskyParams& p, Range range) {
  const std::int64_t n = p.n;
  each<L>(p.element, range, [&]<class T>(T, std::int64_t first) {
    const Matrices<L, const T> in(buffers[0], range, first, n * n);
    const Matrices<L, T> out(buffers[1], range, first, n * n);
    auto place = [&](std::int64_t i, std::int64_t j) { return p.lower ? i * n + j : j * n + i; };
    typename L::F a[kMost * kMost];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) a[i * n + j] = in.load(place(i, j));
    typename L::Mask fine = all<L>(0) == all<L>(0);
    factorise_positive<L>(a, n, fine);
    const typename L::F nan = all<L>(__builtin_nan(""));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) out.store(place(i, j), j > i ? all<L>(0) : fine ? a[i * n + j] : nan);
  });
}

/// The rows of a matrix and, behind each, its number: what an exchange moves.
template <class L>
struct Rows {
  using F = typename L::F;
  using Mask = typename L::Mask;
  std::int64_t m, n;
  F a[kMost * (kMost + 1)];
  STRATA_SMALL F& operator()(std::int64_t i, std::int64_t j) { return a[i * (n + 1) + j]; }

  static STRATA_SMALL F size(F x) { return x < all<L>(0) ? -x : x; }
  /// The first of the greatest elements of column k on and below the diagonal.
  STRATA_SMALL F pivot(std::int64_t k) {
    F best = size((*this)(k, k)), row = all<L>(static_cast<double>(k));
    for (std::int64_t i = k + 1; i < m; ++i) {
      const F x = size((*this)(i, k));
      const Mask more = x > best;
      best = more ? x : best;
      row = more ? all<L>(static_cast<double>(i)) : row;
    }
    return row;
  }
  STRATA_SMALL void exchange(std::int64_t k, F with) {
    for (std::int64_t i = k + 1; i < m; ++i) {
      const Mask here = with == all<L>(static_cast<double>(i));
      for (std::int64_t j = 0; j <= n; ++j) {
        const F upper = (*this)(k, j), lower = (*this)(i, j);
        (*this)(k, j) = here ? lower : upper;
        (*this)(i, j) = here ? upper : lower;
      }
    }
  }
  STRATA_SMALL void eliminate(std::int64_t k) {
    const F zero = all<L>(0), top = (*this)(k, k);
    const Mask none = top == zero;
    for (std::int64_t i = k + 1; i < m; ++i) {
      const F factor = (*this)(i, k) = none ? (*this)(i, k) : (*this)(i, k) / top;
      const Mask skip = none | (factor == zero);
      for (std::int64_t j = k + 1; j < n; ++j) {
        const F x = (*this)(i, j);
        (*this)(i, j) = skip ? x : x - factor * (*this)(k, j);
      }
    }
  }
};

template <class L>
void lu(void* const* buffers, const LuParams& p, Range range) {
  const std::int64_t m = p.m, n = p.n, least = m < n ? m : n;
  each<L>(p.element, range, [&]<class T>(T, std::int64_t first) {
    const Matrices<L, const T> in(buffers[0], range, first, m * n);
    const Matrices<L, T> out(buffers[1], range, first, m * n);
    const Matrices<L, std::int32_t> pivots(buffers[2], range, first, least), permutation(buffers[3], range, first, m);
    Rows<L> rows;
    rows.m = m, rows.n = n;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) rows(i, j) = in.load(i * n + j);
      rows(i, n) = all<L>(static_cast<double>(i));
    }
    for (std::int64_t k = 0; k < least; ++k) {
      const typename L::F with = rows.pivot(k);
      pivots.store_index(k, with);
      rows.exchange(k, with);
      rows.eliminate(k);
    }
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) out.store(i * n + j, rows(i, j));
      permutation.store_index(i, rows(i, n));
    }
  });
}

template <class L>
void triangular_solve(void* const* buffers, const TriangularParams& p, Range range) {
  using F = typename L::F;
  const std::int64_t n = p.n, m = p.m;
  const bool transposed = (p.op != 0) == (p.left != 0), lower = (p.lower != 0) != transposed;  // as in triangular_solve.cc
  each<L>(p.element, range, [&]<class T>(T, std::int64_t first) {
    const Matrices<L, const T> in(buffers[0], range, first, n * n), rhs(buffers[1], range, first, n * m);
    const Matrices<L, T> out(buffers[2], range, first, n * m);
    F a[kMost * kMost], y[kMost];
    auto begin = [&](std::int64_t i) { return lower ? 0 : i + 1; };
    auto end = [&](std::int64_t i) { return lower ? i : n; };
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = begin(i); j < end(i); ++j) a[i * n + j] = in.load(transposed ? j * n + i : i * n + j);
      if (!p.unit) a[i * n + i] = in.load(i * n + i);
    }
    for (std::int64_t v = 0; v < m; ++v)
      for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t i = lower ? step : n - 1 - step, place = p.left ? i * m + v : v * n + i;
        F sum = rhs.load(place);
        for (std::int64_t j = begin(i); j < end(i); ++j) sum -= a[i * n + j] * y[j];
        if (!p.unit) sum = sum / a[i * n + i];
        y[i] = sum;
        out.store(place, sum);
      }
  });
}

/// T of T y = b (triangular_solve.cc), a number for all lanes.
template <class L, class T>
struct Triangle {
  const T* a;
  std::int64_t n;
  bool transposed;
  STRATA_SMALL typename L::F operator()(std::int64_t i, std::int64_t j) const { return all<L>(widen(transposed ? a[j * n + i] : a[i * n + j])); }
};

template <class L>
void right_sides(void* const* buffers, const TriangularParams& p, std::int64_t matrix, Range sides, double* scratch) {
  using F = typename L::F;
  constexpr std::int64_t kVectors = kSides / L::kWidth;
  const std::int64_t n = p.n, m = p.m, next = p.left ? 1 : n;
  const bool transposed = (p.op != 0) == (p.left != 0), lower = (p.lower != 0) != transposed;
  auto y = [&](std::int64_t i, std::int64_t g) -> double* { return scratch + (i * kVectors + g) * L::kWidth; };
  auto load = [&](const double* from) { F x; __builtin_memcpy(&x, from, sizeof x); return x; };
  auto solve = [&]<class T>(T) {
    const Triangle<L, T> t{static_cast<const T*>(buffers[0]) + matrix * n * n, n, transposed};
    const T* b = static_cast<const T*>(buffers[1]) + matrix * n * m + sides.begin * next;
    T* x = static_cast<T*>(buffers[2]) + matrix * n * m + sides.begin * next;
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = lower ? step : n - 1 - step, first = p.left ? i * m : i;
      double side[kSides] = {};
      for (std::int64_t v = 0; v < sides.count(); ++v) side[v] = widen(b[first + v * next]);
      F sum[kVectors];
      for (std::int64_t g = 0; g < kVectors; ++g) sum[g] = load(side + g * L::kWidth);
      for (std::int64_t j = lower ? 0 : i + 1, end = lower ? i : n; j < end; ++j) {
        const F factor = t(i, j);
        for (std::int64_t g = 0; g < kVectors; ++g) sum[g] -= factor * load(y(j, g));
      }
      for (std::int64_t g = 0; g < kVectors; ++g) {
        if (!p.unit) sum[g] = sum[g] / t(i, i);
        __builtin_memcpy(y(i, g), &sum[g], sizeof sum[g]);
      }
      for (std::int64_t v = 0; v < sides.count(); ++v) x[first + v * next] = narrow<T>(y(i, 0)[v]);
    }
  };
  factor::dispatch(p.element, [&]<class T>(T x) {
    if constexpr (has_lanes<T>) solve(x);
  });
}

}  // namespace
}  // namespace strata::loop::small
