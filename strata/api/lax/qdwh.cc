// The polar decomposition by dynamically weighted Halley iteration, as jax/_src/tpu/linalg/qdwh.py:
// Nakatsukasa, Bai and Gygi, "Optimizing Halley's iteration for computing the matrix polar
// decomposition", 2010. The weights depend on eps alone.
#include <cmath>

#include "strata/api/lax/linalg.h"
#include "strata/api/lax/shapes.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/matrices.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/operators.h"
#include "strata/api/transform/control.h"

namespace strata::lax::linalg {
namespace {

using internal::adjoint;
using internal::strong_number;

/// X' = X (a I + b X^H X) (I + c X^H X)^-1
struct Weights {
  double a = 3, b = 1, c = 3;
};

std::vector<Weights> weights_of(double eps, std::int64_t most) {
  std::vector<Weights> out;
  for (double l = eps; l + 5 * eps < 1 && static_cast<std::int64_t>(out.size()) < most;) {
    const double l2 = l * l, d = std::cbrt(4 * (1 / l2 - 1) / l2), root = std::sqrt(1 + d);
    Weights w;
    w.a = root + std::sqrt(2 - d + 2 * (2 - l2) / (l2 * root));
    w.b = (w.a - 1) * (w.a - 1) / 4;
    w.c = w.a + w.b - 1;
    l = l * (w.a + w.b * l2) / (1 + w.c * l2);
    out.push_back(w);
  }
  return out;
}

Array identity_of(const Array& u) { return numpy::eye(u.shape(-1), {}, 0, u.dtype()); }

/// For large weights, where products of u with itself would lose too much.
Array step_by_qr(const Array& u, const Weights& w) {
  const double root = std::sqrt(w.c), e = w.b / w.c;
  const Array stacked = concatenate({strong_number(u, root) * u, identity_of(u)}, 0),
              q = qr(stacked, {.full_matrices = false})[0];
  const Array upper = slice_in_dim(q, 0, u.shape(0)),
              lower = slice_in_dim(q, u.shape(0), q.shape(0));
  return strong_number(u, e) * u +
         strong_number(u, (w.a - e) / root) * matmul(upper, adjoint(lower));
}

Array step_by_cholesky(const Array& u, const Weights& w) {
  const double e = w.b / w.c;
  const Array l = cholesky(strong_number(u, w.c) * matmul(adjoint(u), u) + identity_of(u),
                           {.symmetrize_input = false});
  Array z = triangular_solve(l, adjoint(u), {.left_side = true, .lower = true});
  z = triangular_solve(
      l, z, {.left_side = true, .lower = true, .transpose_a = true, .conjugate_a = true});
  return strong_number(u, e) * u + strong_number(u, w.a - e) * adjoint(z);
}

Array frobenius(const Array& x) { return numpy::sqrt(sum(numpy::real(x * numpy::conj(x)))); }

}  // namespace

std::tuple<Array, Array, Array, Array> qdwh(const Operand& operand, const Qdwh& options) {
  internal::Site site(operand);
  const Array x = operand;
  internal::require_matrices("qdwh", x);
  if (x.ndim() != 2 || x.shape(0) < x.shape(1))
    internal::fail("qdwh", "one matrix of at least as many rows as columns is taken, got {}",
                   internal::describe(x.type()));
  constexpr double kQrFrom = 100;
  const std::int64_t most = options.max_iterations.value_or(10);
  const double eps = options.eps.value_or(internal::epsilon_of(x.dtype())),
               tolerance = std::cbrt(5 * eps);
  const Array by_columns = max(sum(numpy::abs(x), 0)), by_rows = max(sum(numpy::abs(x), 1));
  const Array scale =
      where(by_columns == 0, 1, 1 / (numpy::sqrt(by_columns) * numpy::sqrt(by_rows)));
  Array u = x * scale.astype(x.dtype()), moving = Array(true);
  const std::vector<Weights> weights = weights_of(eps, most);
  for (const Weights& w : weights) {
    const Array before = u;
    u = w.c > kQrFrom ? step_by_qr(u, w) : step_by_cholesky(u, w);
    if (w.c <= kQrFrom) moving = frobenius(u - before) > tolerance;
  }
  // Where the weights have settled and u has not: Halley's own.
  using State = std::tuple<Array, Array, Array>;
  const State start{Array(static_cast<std::int64_t>(weights.size())), u, moving};
  auto [count, last, still] = while_loop(
      [&](const State& s) { return std::get<2>(s) & (std::get<0>(s) < most); },
      [&](const State& s) {
        const Array next = step_by_cholesky(std::get<1>(s), {});
        return State{std::get<0>(s) + 1, next, frobenius(next - std::get<1>(s)) > tolerance};
      },
      start);
  u = strong_number(x, 1.5) * last -
      strong_number(x, 0.5) *
          matmul(last, matmul(adjoint(last), last));  // a step of Newton and Schulz
  return {u, internal::symmetrized(matmul(adjoint(u), x)), count, ~still};
}

}  // namespace strata::lax::linalg
