// Polar factors, products with Q, and the derivative of the exponential.
#include "strata/api/lax.h"
#include "strata/api/lax/linalg.h"
#include "strata/api/matrices.h"
#include "strata/api/scipy/linalg.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/vmap.h"

namespace strata::scipy::linalg {
namespace {

using internal::adjoint;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::require_matrices;
using internal::Site;
namespace ll = lax::linalg;
using Two = std::pair<Array, Array>;

/// f of each matrix of a batch.
template <class F>
Two of_each(const Array& a, F f) {
  if (a.ndim() == 2) return f(a);
  Ints batch = internal::sizes(a);
  batch.resize(batch.size() - 2);
  const auto [x, y] = vmap(f)(a.reshape({-1, a.shape(-2), a.shape(-1)}));
  auto back = [&](const Array& each) {
    Ints shape = batch;
    shape.insert(shape.end(), {each.shape(-2), each.shape(-1)});
    return each.reshape(shape);
  };
  return {back(x), back(y)};
}

Two polar_by_qdwh(const Array& a, bool right, const Polar& o) {
  if (right != (a.shape(-2) >= a.shape(-1)))
    fail("polar",
         "method \"qdwh\" takes at least as many rows as columns on side \"right\", fewer on side "
         "\"left\", got {}",
         describe(a.type()));
  return of_each(a, [&](const Array& x) -> Two {
    const auto [u, p, iterations, ended] =
        ll::qdwh(right ? x : adjoint(x), {.max_iterations = o.max_iterations, .eps = o.eps});
    if (right) return {u, p};
    return {adjoint(u), adjoint(p)};
  });
}

Two polar_by_svd(const Array& a, bool right) {
  const std::vector<Array> f = ll::svd(a, {.full_matrices = false});
  const Array s = expand_dims(f[1], -2).astype(a.dtype());
  return {matmul(f[0], f[2]),
          right ? matmul(adjoint(f[2]) * s, f[2]) : matmul(f[0] * s, adjoint(f[0]))};
}

}  // namespace

std::pair<Array, Array> expm_frechet(const Operand& A, const Operand& E, bool compute_expm) {
  Site site(A);
  require_matrices("expm_frechet", A, true);
  if (A->type() != E->type() || !is_inexact(A->dtype()))
    fail("expm_frechet", "floats of one type and shape are taken, got {} and {}",
         describe(A->type()), describe(E->type()));
  const auto [value, derivative] =
      jvp([](const Array& a) { return expm(a); }, std::tuple(A.array), std::tuple(E.array));
  return {compute_expm ? value : Array(), derivative};
}

std::pair<Array, Array> polar(const Operand& operand, const std::string& side, const Polar& o) {
  Site site(operand);
  const Array a = operand;
  require_matrices("polar", a);
  if (side != "right" && side != "left")
    fail("polar", "side is \"right\" or \"left\", got \"{}\"", side);
  if (o.method == "qdwh") return polar_by_qdwh(a, side == "right", o);
  if (o.method == "svd") return polar_by_svd(a, side == "right");
  fail("polar", "method is \"qdwh\" or \"svd\", got \"{}\"", o.method);
}

QrMultiplyResult qr_multiply(const Operand& a_operand, const Operand& c_operand,
                             const QrMultiply& o) {
  Site site(a_operand);
  const std::vector<Array> both = internal::promoted_inexact("qr_multiply", {a_operand, c_operand});
  if (o.mode != "right" && o.mode != "left")
    fail("qr_multiply", "mode is \"right\" or \"left\", got \"{}\"", o.mode);
  require_matrices("qr_multiply", both[0]);
  const bool left = o.mode == "left", vector = both[1].ndim() == 1;
  const Array given = vector ? expand_dims(both[1], left ? 1 : 0) : both[1];
  require_matrices("qr_multiply", given);
  const std::int64_t m = both[0].shape(-2), k = std::min(m, both[0].shape(-1));
  if (given.shape(left ? -2 : -1) != (left ? k : m))
    fail("qr_multiply", "Q of {} is {} by {}, which does not go with {} in mode \"{}\"",
         describe(both[0].type()), m, k, describe(both[1].type()), o.mode);
  const Array pair[] = {both[0], given};
  const Ints batch = internal::common_batch("qr_multiply", pair);
  const std::vector<Array> f = ll::qr(internal::with_batch(both[0], batch),
                                      {.pivoting = o.pivoting, .full_matrices = false});
  const Array q = o.conjugate ? numpy::conj(f[0]) : f[0], c = internal::with_batch(given, batch),
              product = left ? matmul(q, c) : matmul(c, q);
  return {vector ? ravel(product) : product, f[1], o.pivoting ? f[2] : Array()};
}

}  // namespace strata::scipy::linalg
