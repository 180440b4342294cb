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
  const Places places(p);
  each<L>(p.element, range, [&]<class T>(T, std::int64_t first) {
    const Matrices<L, const T> in(buffers[0], range, first, n * n), rhs(buffers[1], range, first, n * m);
    const Matrices<L, T> out(buffers[2], range, first, n * m);
    F a[kMost * kMost], y[kMost];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i + !p.unit; ++j) a[i * n + j] = in.load(places.of(i, j));
    for (std::int64_t v = 0; v < m; ++v)
      for (std::int64_t i = 0; i < n; ++i) {
        F sum = rhs.load(places.of_side(i, v));
        for (std::int64_t j = 0; j < i; ++j) sum -= a[i * n + j] * y[j];
        if (!p.unit) sum = sum / a[i * n + i];
        y[i] = sum;
        out.store(places.of_side(i, v), sum);
      }
  });
}

/// kSides right hand sides of one system, in lanes: rows [i, i + kRows) together, as many as registers hold. `y` is what is solved, kSides numbers for each row.
template <class L, class T>
struct Sides {
  using F = typename L::F;
  static constexpr int kVectors = kSides / L::kWidth, kRows = L::kWidth > 4 ? 4 : L::kWidth > 2 ? 2 : 1;
  const T *a, *b;
  T* x;
  double* y;
  const Places& places;
  const TriangularParams& p;
  std::int64_t count;

  STRATA_SMALL F factor(std::int64_t i, std::int64_t j) const { return all<L>(widen(a[places.of(i, j)])); }
  STRATA_SMALL F solved(std::int64_t i, int g) const {
    F out;
    __builtin_memcpy(&out, y + i * kSides + g * L::kWidth, sizeof out);
    return out;
  }
  /// The right hand sides of row i where y's will stand.
  STRATA_SMALL void load(std::int64_t i) const {
    const T* from = b + places.of_side(i, 0);
    double* to = y + i * kSides;
    if (count == kSides && places.between_sides() == 1)
      for (int v = 0; v < kSides; ++v) to[v] = widen(from[v]);
    else
      for (int v = 0; v < kSides; ++v) to[v] = v < count ? widen(from[v * places.between_sides()]) : 0;
  }
  STRATA_SMALL void store(std::int64_t i) const {
    T* to = x + places.of_side(i, 0);
    const double* from = y + i * kSides;
    if (count == kSides && places.between_sides() == 1)
      for (int v = 0; v < kSides; ++v) to[v] = narrow<T>(from[v]);
    else
      for (int v = 0; v < count; ++v) to[v * places.between_sides()] = narrow<T>(from[v]);
  }
  /// Rows before i are solved.
  template <int Rows>
  STRATA_SMALL void solve_rows(std::int64_t i) const {
    F sum[Rows][kVectors];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      load(i + r);
#pragma GCC unroll 8
      for (int g = 0; g < kVectors; ++g) sum[r][g] = solved(i + r, g);
    }
    for (std::int64_t j = 0; j < i; ++j) subtract<Rows>(sum, i, j, 0);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      const F diagonal = p.unit ? all<L>(1) : factor(i + r, i + r);
#pragma GCC unroll 8
      for (int g = 0; g < kVectors; ++g) {
        if (!p.unit) sum[r][g] = sum[r][g] / diagonal;
        __builtin_memcpy(y + (i + r) * kSides + g * L::kWidth, &sum[r][g], sizeof(F));
      }
      store(i + r);
      subtract<Rows>(sum, i, i + r, r + 1);
    }
  }
  /// What row j takes from rows [i + first, i + Rows).
  template <int Rows>
  STRATA_SMALL void subtract(F (&sum)[Rows][kVectors], std::int64_t i, std::int64_t j, int first) const {
#pragma GCC unroll 4
    for (int r = first; r < Rows; ++r) {
      const F t = factor(i + r, j);
#pragma GCC unroll 8
      for (int g = 0; g < kVectors; ++g) sum[r][g] -= t * solved(j, g);
    }
  }
};

template <class L>
void right_sides(void* const* buffers, const TriangularParams& p, std::int64_t matrix, Range sides, double* scratch) {
  const Places places(p);
  factor::dispatch(p.element, [&]<class T>(T) {
    if constexpr (has_lanes<T>) {
      const std::int64_t first = matrix * p.n * p.m + sides.begin * places.between_sides();
      const Sides<L, T> system{static_cast<const T*>(buffers[0]) + matrix * p.n * p.n, static_cast<const T*>(buffers[1]) + first, static_cast<T*>(buffers[2]) + first, scratch, places, p,
                               sides.count()};
      constexpr int kRows = Sides<L, T>::kRows;
      std::int64_t i = 0;
      for (; i + kRows <= p.n; i += kRows) system.template solve_rows<kRows>(i);
      for (; i < p.n; ++i) system.template solve_rows<1>(i);
    }
  });
}

}  // namespace
}  // namespace strata::loop::small
