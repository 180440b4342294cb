// triangular_solve: op(A) X = B or X op(A) = B for triangular A, op the identity, transposition or conjugate transposition.
//
// Buffers: A, B, X. Parameters: element type (factor.h), left, lower, unit diagonal, op (0, 1, 2), n (rows of A), m (right
// hand sides). A grid point is kVectors right hand sides of one matrix. Only the named triangle of A is read, without its
// diagonal where that is taken as ones. Computed in f64, rounded once.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "strata/loop/kernel/factor.h"

extern "C" void strata_triangular_solve(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace {

using namespace strata::loop::factor;

constexpr std::int64_t kVectors = 16;

struct Params {
  std::int64_t element, left, lower, unit, op, n, m;
};

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

template <class T>
void solve_all(void* const* buffers, const Params& p, std::int64_t begin, std::int64_t end) {
  std::int64_t groups = (p.m + kVectors - 1) / kVectors;
  std::vector<Wide<T>> y;
  for (std::int64_t g = begin; g < end; ++g) {
    std::int64_t matrix = g / groups, first = g % groups * kVectors, last = std::min(first + kVectors, p.m);
    System<T> s{static_cast<const T*>(buffers[0]) + matrix * p.n * p.n, p};
    const T* b = static_cast<const T*>(buffers[1]) + matrix * p.n * p.m;
    T* x = static_cast<T*>(buffers[2]) + matrix * p.n * p.m;
    for (std::int64_t v = first; v < last; ++v) {
      std::int64_t offset = p.left ? v : v * p.n;
      solve(s, b + offset, x + offset, p.left ? p.m : 1, y);
    }
  }
}

}  // namespace

extern "C" void strata_triangular_solve(void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[3]);
  dispatch(p.element, [&]<class T>(T) { solve_all<T>(buffers, p, begin, end); });
}
