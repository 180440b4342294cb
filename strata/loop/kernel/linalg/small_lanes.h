// The kernels of small.h for one instruction set, which L gives: F, a vector of kWidth doubles, its
// square roots, and whether any lane of a mask is set.
//
// Included by small_avx2.cc and its neighbours, each of which is compiled for its own instructions.
#pragma once

#include "strata/loop/kernel/linalg/small_number.h"

namespace strata::loop::small {
namespace {

using factor::narrow;
using factor::Wide;
using factor::widen;

/// The matrices of one vector; where there are fewer than lanes, the last one again.
template <class L, class T>
struct Matrices {
  using F = typename L::F;
  T* at[L::kWidth];
  std::int64_t count;

  Matrices(void* base, Range range, std::int64_t first, std::int64_t size)
      : count(range.end - first < L::kWidth ? range.end - first : L::kWidth) {
    for (std::int64_t l = 0; l < L::kWidth; ++l)
      at[l] = static_cast<T*>(base) + (first + (l < count ? l : count - 1)) * size;
  }
  STRATA_SMALL Number<L, T> load(std::int64_t i) const {
    Number<L, T> x;
    for (int l = 0; l < L::kWidth; ++l) set_lane(x, l, widen(at[l][i]));
    return x;
  }
  STRATA_SMALL void store(std::int64_t i, const Number<L, T>& x) const {
    if (count == L::kWidth)
      for (int l = 0; l < L::kWidth; ++l) at[l][i] = narrow<T>(lane_of(x, l));
    else
      for (std::int64_t l = 0; l < count; ++l) at[l][i] = narrow<T>(lane_of(x, l));
  }
  /// Whole numbers, at most as many as 32 bits hold.
  STRATA_SMALL void store_index(std::int64_t i, F x) const {
    for (std::int64_t l = 0; l < count; ++l) at[l][i] = static_cast<T>(x[l]);
  }
};

/// Calls f(T{}) for the type of an element that has lanes.
template <class F>
void dispatch_lanes(std::int64_t element, F&& f) {
  if constexpr (has_lanes(factor::kC128))
    factor::dispatch(element, f);
  else
    element == factor::kF32 ? f(float{}) : f(double{});
}

/// Calls f(T{}, first) for each vector of matrices.
template <class L, class F>
void each(std::int64_t element, Range range, F&& f) {
  dispatch_lanes(element, [&]<class T>(T) {
    for (std::int64_t first = range.begin; first < range.end; first += L::kWidth) f(T{}, first);
  });
}

template <class L, class N>
STRATA_SMALL void factorise_positive(N* a, std::int64_t n, typename L::Mask& fine) {
  using F = typename L::F;
  for (std::int64_t k = 0; k < n; ++k) {
    const F pivot = real_part(a[k * n + k]);
    fine &= pivot > all<L>(0);
    const F root = L::sqrt(pivot);
    a[k * n + k] = only_real(a[k * n + k], root);
    for (std::int64_t i = k + 1; i < n; ++i) a[i * n + k] = a[i * n + k] / root;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const N left = a[i * n + k];
      for (std::int64_t j = k + 1; j <= i; ++j) a[i * n + j] -= left * conjugate(a[j * n + k]);
    }
  }
}

template <class L>
void cholesky(void* const* buffers, const CholeskyParams& p, Range range) {
  const std::int64_t n = p.n;
  each<L>(p.element, range, [&]<class T>(T, std::int64_t first) {
    using N = Number<L, T>;
    const Matrices<L, const T> in(buffers[0], range, first, n * n);
    const Matrices<L, T> out(buffers[1], range, first, n * n);
    auto place = [&](std::int64_t i, std::int64_t j) { return p.lower ? i * n + j : j * n + i; };
    auto turned = [&](const N& x) {
      return p.lower ? x : conjugate(x);
    };  // the upper triangle is the adjoint of the lower one
    N a[kMost * kMost];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) a[i * n + j] = turned(in.load(place(i, j)));
    typename L::Mask fine = all<L>(0) == all<L>(0);
    factorise_positive<L>(a, n, fine);
    const N zero = constant<L, T>(0), nan = constant<L, T>(__builtin_nan(""));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        out.store(place(i, j), turned(j > i ? zero : pick(fine, a[i * n + j], nan)));
  });
}

/// The rows of matrices and their numbers: what an exchange moves.
template <class L, class N>
struct Rows {
  using F = typename L::F;
  using Mask = typename L::Mask;
  std::int64_t m, n;
  N a[kMost * kMost];
  F number[kMost];
  STRATA_SMALL N& operator()(std::int64_t i, std::int64_t j) { return a[i * n + j]; }

  /// The first of the greatest elements of column k on and below the diagonal.
  STRATA_SMALL F pivot(std::int64_t k) {
    F best = size_of((*this)(k, k)), row = all<L>(static_cast<double>(k));
    for (std::int64_t i = k + 1; i < m; ++i) {
      const F x = size_of((*this)(i, k));
      const Mask more = x > best;
      best = more ? x : best;
      row = more ? all<L>(static_cast<double>(i)) : row;
    }
    return row;
  }
  STRATA_SMALL void exchange(std::int64_t k, const F& with) {
    for (std::int64_t i = k + 1; i < m; ++i) {
      const Mask here = with == all<L>(static_cast<double>(i));
      if (!L::any(here)) continue;
      auto swap = [&](auto& x, auto& y) {
        const auto upper = x, lower = y;
        x = pick(here, lower, upper);
        y = pick(here, upper, lower);
      };
      for (std::int64_t j = 0; j < n; ++j) swap((*this)(k, j), (*this)(i, j));
      swap(number[k], number[i]);
    }
  }
  STRATA_SMALL void eliminate(std::int64_t k) {
    const N top = (*this)(k, k);
    const Mask none = is_zero<L>(top);
    for (std::int64_t i = k + 1; i < m; ++i) {
      const N factor = (*this)(i, k) = pick(none, (*this)(i, k), (*this)(i, k) / top);
      const Mask skip = none | is_zero<L>(factor);
      for (std::int64_t j = k + 1; j < n; ++j) {
        const N x = (*this)(i, j);
        (*this)(i, j) = pick(skip, x, x - factor * (*this)(k, j));
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
    const Matrices<L, std::int32_t> pivots(buffers[2], range, first, least),
        permutation(buffers[3], range, first, m);
    Rows<L, Number<L, T>> rows;
    rows.m = m, rows.n = n;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) rows(i, j) = in.load(i * n + j);
      rows.number[i] = all<L>(static_cast<double>(i));
    }
    for (std::int64_t k = 0; k < least; ++k) {
      const typename L::F with = rows.pivot(k);
      pivots.store_index(k, with);
      rows.exchange(k, with);
      rows.eliminate(k);
    }
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) out.store(i * n + j, rows(i, j));
      permutation.store_index(i, rows.number[i]);
    }
  });
}

template <class L>
void triangular_solve(void* const* buffers, const TriangularParams& p, Range range) {
  const std::int64_t n = p.n, m = p.m;
  const Places places(p);
  each<L>(p.element, range, [&]<class T>(T, std::int64_t first) {
    using N = Number<L, T>;
    const Matrices<L, const T> in(buffers[0], range, first, n * n),
        rhs(buffers[1], range, first, n * m);
    const Matrices<L, T> out(buffers[2], range, first, n * m);
    N a[kMost * kMost], y[kMost];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i + !p.unit; ++j) {
        const N x = in.load(places.of(i, j));
        a[i * n + j] = p.op == 2 ? conjugate(x) : x;
      }
    for (std::int64_t v = 0; v < m; ++v)
      for (std::int64_t i = 0; i < n; ++i) {
        N sum = rhs.load(places.of_side(i, v));
        for (std::int64_t j = 0; j < i; ++j) sum -= a[i * n + j] * y[j];
        if (!p.unit) sum = sum / a[i * n + i];
        y[i] = sum;
        out.store(places.of_side(i, v), sum);
      }
  });
}

/// kSides right hand sides of one system, in lanes: rows [i, i + kRows) together, as many as
/// registers hold. `y` is what is solved: of each row the numbers of all sides, or their real and
/// then their imaginary parts.
template <class L, class T>
struct Sides {
  using F = typename L::F;
  using N = Number<L, T>;
  static constexpr int kParts = factor::is_complex<T> ? 2 : 1, kVectors = kSides / L::kWidth;
  static constexpr int kRows = L::kWidth / (2 * kParts) < 1 ? 1 : L::kWidth / (2 * kParts);
  const T *a, *b;
  T* x;
  double* y;
  const Places& places;
  const TriangularParams& p;
  std::int64_t count;

  STRATA_SMALL N coefficient(std::int64_t i, std::int64_t j) const {
    const auto t = widen(a[places.of(i, j)]);
    if constexpr (factor::is_complex<T>)
      return {all<L>(t.real()), all<L>(p.op == 2 ? -t.imag() : t.imag())};
    else
      return all<L>(t);
  }
  STRATA_SMALL double* row(std::int64_t i) const { return y + i * kParts * kSides; }
  STRATA_SMALL F vector(const double* from) const {
    F out;
    __builtin_memcpy(&out, from, sizeof out);
    return out;
  }
  STRATA_SMALL N solved(std::int64_t i, int g) const {
    const double* from = row(i) + g * L::kWidth;
    if constexpr (factor::is_complex<T>)
      return {vector(from), vector(from + kSides)};
    else
      return vector(from);
  }
  STRATA_SMALL void keep(std::int64_t i, int g, const N& solved) const {
    double* to = row(i) + g * L::kWidth;
    const F re = real_part(solved);
    __builtin_memcpy(to, &re, sizeof re);
    if constexpr (factor::is_complex<T>)
      __builtin_memcpy(to + kSides, &solved.im, sizeof solved.im);
  }
  STRATA_SMALL void set(double* to, Wide<T> x) const {
    to[0] = factor::real(x);
    if constexpr (factor::is_complex<T>) to[kSides] = x.imag();
  }
  STRATA_SMALL Wide<T> get(const double* from) const {
    if constexpr (factor::is_complex<T>)
      return {from[0], from[kSides]};
    else
      return from[0];
  }
  /// The right hand sides of row i where y's will stand.
  STRATA_SMALL void load(std::int64_t i) const {
    const T* from = b + places.of_side(i, 0);
    double* to = row(i);
    if (count == kSides && places.between_sides() == 1)
      for (int v = 0; v < kSides; ++v) set(to + v, widen(from[v]));
    else
      for (int v = 0; v < kSides; ++v)
        set(to + v, v < count ? widen(from[v * places.between_sides()]) : Wide<T>(0));
  }
  STRATA_SMALL void store(std::int64_t i) const {
    T* to = x + places.of_side(i, 0);
    const double* from = row(i);
    if (count == kSides && places.between_sides() == 1)
      for (int v = 0; v < kSides; ++v) to[v] = narrow<T>(get(from + v));
    else
      for (int v = 0; v < count; ++v) to[v * places.between_sides()] = narrow<T>(get(from + v));
  }
  /// Rows before i are solved.
  template <int Rows>
  STRATA_SMALL void solve_rows(std::int64_t i) const {
    N sum[Rows][kVectors];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      load(i + r);
#pragma GCC unroll 8
      for (int g = 0; g < kVectors; ++g) sum[r][g] = solved(i + r, g);
    }
    for (std::int64_t j = 0; j < i; ++j) subtract<Rows>(sum, i, j, 0);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      const N diagonal = p.unit ? constant<L, T>(1) : coefficient(i + r, i + r);
#pragma GCC unroll 8
      for (int g = 0; g < kVectors; ++g) keep(i + r, g, p.unit ? sum[r][g] : sum[r][g] / diagonal);
      store(i + r);
      subtract<Rows>(sum, i, i + r, r + 1);
    }
  }
  /// What row j takes from rows [i + first, i + Rows).
  template <int Rows>
  STRATA_SMALL void subtract(N (&sum)[Rows][kVectors], std::int64_t i, std::int64_t j,
                             int first) const {
#pragma GCC unroll 4
    for (int r = first; r < Rows; ++r) {
      const N t = coefficient(i + r, j);
#pragma GCC unroll 8
      for (int g = 0; g < kVectors; ++g) sum[r][g] -= t * solved(j, g);
    }
  }
};

template <class L>
void right_sides(void* const* buffers, const TriangularParams& p, std::int64_t matrix, Range sides,
                 double* scratch) {
  const Places places(p);
  dispatch_lanes(p.element, [&]<class T>(T) {
    const std::int64_t first = matrix * p.n * p.m + sides.begin * places.between_sides();
    const Sides<L, T> system{static_cast<const T*>(buffers[0]) + matrix * p.n * p.n,
                             static_cast<const T*>(buffers[1]) + first,
                             static_cast<T*>(buffers[2]) + first,
                             scratch,
                             places,
                             p,
                             sides.count()};
    constexpr int kRows = Sides<L, T>::kRows;
    std::int64_t i = 0;
    for (; i + kRows <= p.n; i += kRows) system.template solve_rows<kRows>(i);
    for (; i < p.n; ++i) system.template solve_rows<1>(i);
  });
}

}  // namespace
}  // namespace strata::loop::small
