// triangular_solve: op(A) X = B or X op(A) = B for triangular A, op the identity, transposition or
// conjugate transposition.
//
// Buffers: A, B, X. Parameters: small.h (op: 0, 1, 2; n rows of A, m right hand sides). A grid
// point is kSidesTogether right hand sides of one matrix, or some small matrices with few right
// hand sides. Only the named triangle of A is read, without its diagonal where that is taken as
// ones. Computed in f64, rounded once; a row takes those that were solved before it in that order.
// Where neither the matrix nor its right hand sides are few, BLAS does it in their own type.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "strata/loop/kernel/linalg/large.h"
#include "strata/loop/kernel/linalg/small.h"

extern "C" void strata_triangular_solve(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;
using namespace strata::loop::small;

using Params = strata::loop::small::TriangularParams;

/// One right hand side, from b to x.
template <class T>
void solve(const T* a, const T* b, T* x, const Params& p, const Places& places, std::int64_t v,
           std::vector<Wide<T>>& y) {
  y.resize(static_cast<std::size_t>(p.n));
  auto factor = [&](std::int64_t i, std::int64_t j) {
    const Wide<T> t = widen(a[places.of(i, j)]);
    return p.op == 2 ? conj(t) : t;
  };
  for (std::int64_t i = 0; i < p.n; ++i) {
    Wide<T> sum = widen(b[places.of_side(i, v)]);
    for (std::int64_t j = 0; j < i; ++j) sum -= times(factor(i, j), y[static_cast<std::size_t>(j)]);
    if (!p.unit) sum = sum / factor(i, i);
    y[static_cast<std::size_t>(i)] = sum;
    x[places.of_side(i, v)] = narrow<T>(sum);
  }
}

/// Right hand sides [sides.begin, sides.end) of one matrix.
template <class T>
void solve_sides(void* const* buffers, const Params& p, std::int64_t matrix, Range sides,
                 std::vector<Wide<T>>& y) {
  if (sides.count() > 1 && has_lanes(p.element)) {
    y.resize(static_cast<std::size_t>(p.n * kSides));
    for (std::int64_t v = sides.begin; v < sides.end; v += kSides)
      instruction_set().right_sides(buffers, p, matrix, {v, std::min(v + kSides, sides.end)},
                                    reinterpret_cast<double*>(y.data()));
    return;
  }
  const Places places(p);
  const std::int64_t first = matrix * p.n * p.m;
  for (std::int64_t v = sides.begin; v < sides.end; ++v)
    solve(static_cast<const T*>(buffers[0]) + matrix * p.n * p.n,
          static_cast<const T*>(buffers[1]) + first, static_cast<T*>(buffers[2]) + first, p, places,
          v, y);
}

template <class T>
void solve_small(void* const* buffers, const Params& p, Range matrices) {
  if (fits(p.element, p.n, p.m, matrices))
    return instruction_set().triangular_solve(buffers, p, matrices);
  std::vector<Wide<T>> y;
  for (std::int64_t i = matrices.begin; i < matrices.end; ++i)
    solve_sides<T>(buffers, p, i, {0, p.m}, y);
}

/// The same by BLAS, whose matrices are column by column: transposed, a system stands on the other
/// side, and of op(A)^T the same op is left.
template <class T>
void solve_sides_by_blas(void* const* buffers, const Params& p, std::int64_t matrix, Range sides) {
  const T* const a = static_cast<const T*>(buffers[0]) + matrix * p.n * p.n;
  const std::int64_t first = matrix * p.n * p.m + sides.begin * (p.left ? 1 : p.n);
  const T* const b = static_cast<const T*>(buffers[1]) + first;
  T* const x = static_cast<T*>(buffers[2]) + first;
  const auto n = static_cast<int>(p.n), m = static_cast<int>(p.m),
             count = static_cast<int>(sides.count());
  const char uplo = p.lower ? 'U' : 'L', op = "NTC"[p.op];
  if (p.left) {
    for (std::int64_t i = 0; i < p.n; ++i) std::copy_n(b + i * p.m, count, x + i * p.m);
    return strata::loop::large::trsm('R', uplo, op, p.unit != 0, count, n, a, n, x, m);
  }
  std::copy_n(b, p.n * count, x);
  strata::loop::large::trsm('L', uplo, op, p.unit != 0, n, count, a, n, x, n);
}

/// Whether BLAS does the systems of a matrix, all of them or none.
bool by_blas(const Params& p) {
  return p.m > kMost && p.m <= std::numeric_limits<int>::max() &&
         strata::loop::large::by_lapack(p.n, p.n);
}

template <class T>
void solve_large(void* const* buffers, const Params& p, std::int64_t begin, std::int64_t end) {
  const std::int64_t groups = (p.m + kSidesTogether - 1) / kSidesTogether;
  std::vector<Wide<T>> y;
  for (std::int64_t g = begin; g < end; ++g) {
    const Range sides = Range::of(g % groups, g % groups + 1, kSidesTogether, p.m);
    if constexpr (std::is_same_v<T, strata::loop::large::Computed<T>>)
      if (by_blas(p)) {
        solve_sides_by_blas<T>(buffers, p, g / groups, sides);
        continue;
      }
    solve_sides<T>(buffers, p, g / groups, sides, y);
  }
}

}  // namespace

extern "C" void strata_triangular_solve(void* const* buffers, std::int64_t begin,
                                        std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    if (p.n <= kMost && p.m <= kMost)
      return solve_small<T>(buffers, p, Range::of(begin, end, kTogether, p.batch));
    solve_large<T>(buffers, p, begin, end);
  });
}
