// triangular_solve: op(A) X = B or X op(A) = B for triangular A, op the identity, transposition or conjugate transposition.
//
// Buffers: A, B, X. Parameters: small.h (op: 0, 1, 2; n rows of A, m right hand sides). A grid point is kSides right hand
// sides of one matrix, or some small matrices with few right hand sides. Only the named triangle of A is read, without its
// diagonal where that is taken as ones. Computed in f64, rounded once.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "strata/loop/kernel/small.h"

extern "C" void strata_triangular_solve(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;
using namespace strata::loop::small;

using Params = strata::loop::small::TriangularParams;

/// The matrix T of T x = b for each right hand side, with the triangle that is not read as zero, and whether it is lower.
template <class T>
struct System {
  const T* a;
  const Params& p;
  bool transposed() const { return (p.op != 0) == (p.left != 0); }  // X op(A) = B is op(A)^T X^T = B^T
  bool lower() const { return (p.lower != 0) != transposed(); }
  Wide<T> at(std::int64_t i, std::int64_t j) const {
    Wide<T> x = widen(transposed() ? a[j * p.n + i] : a[i * p.n + j]);
    return p.op == 2 ? conj(x) : x;
  }
};

template <class T>
void solve(const System<T>& s, const T* b, T* x, std::int64_t stride, std::vector<Wide<T>>& y) {
  std::int64_t n = s.p.n;
  y.resize(static_cast<std::size_t>(n));
  for (std::int64_t step = 0; step < n; ++step) {
    std::int64_t i = s.lower() ? step : n - 1 - step;
    Wide<T> sum = widen(b[i * stride]);
    for (std::int64_t j = s.lower() ? 0 : i + 1, end = s.lower() ? i : n; j < end; ++j) sum -= times(s.at(i, j), y[static_cast<std::size_t>(j)]);
    if (!s.p.unit) sum = sum / s.at(i, i);
    y[static_cast<std::size_t>(i)] = sum;
    x[i * stride] = narrow<T>(sum);
  }
}

/// Right hand sides [sides.begin, sides.end) of one matrix.
template <class T>
void solve_sides(void* const* buffers, const Params& p, std::int64_t matrix, Range sides, std::vector<Wide<T>>& y) {
  if constexpr (has_lanes<T>)
    if (sides.count() > 1) {
      y.resize(static_cast<std::size_t>(p.n * kSides));
      return instruction_set().right_sides(buffers, p, matrix, sides, y.data());
    }
  System<T> s{static_cast<const T*>(buffers[0]) + matrix * p.n * p.n, p};
  const T* b = static_cast<const T*>(buffers[1]) + matrix * p.n * p.m;
  T* x = static_cast<T*>(buffers[2]) + matrix * p.n * p.m;
  for (std::int64_t v = sides.begin; v < sides.end; ++v) {
    const std::int64_t offset = p.left ? v : v * p.n;
    solve(s, b + offset, x + offset, p.left ? p.m : 1, y);
  }
}

template <class T>
void solve_small(void* const* buffers, const Params& p, Range matrices) {
  if (fits<T>(p.n, p.m, matrices)) return instruction_set().triangular_solve(buffers, p, matrices);
  std::vector<Wide<T>> y;
  for (std::int64_t i = matrices.begin; i < matrices.end; ++i) solve_sides<T>(buffers, p, i, {0, p.m}, y);
}

template <class T>
void solve_large(void* const* buffers, const Params& p, std::int64_t begin, std::int64_t end) {
  const std::int64_t groups = (p.m + kSides - 1) / kSides;
  std::vector<Wide<T>> y;
  for (std::int64_t g = begin; g < end; ++g) solve_sides<T>(buffers, p, g / groups, Range::of(g % groups, g % groups + 1, kSides, p.m), y);
}

}  // namespace

extern "C" void strata_triangular_solve(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) {
    if (p.n <= kMost && p.m <= kMost) return solve_small<T>(buffers, p, Range::of(begin, end, kTogether, p.batch));
    solve_large<T>(buffers, p, begin, end);
  });
}
