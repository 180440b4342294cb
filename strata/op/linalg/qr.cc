// strata.qr: A = Q R of matrices [..., m, n], Q with orthonormal columns, R upper triangular; k =
// min(m, n).
//
// Results: Q [..., m, k] and R [..., k, n], or Q [..., m, m] and R [..., m, n] where
// `full_matrices`; where `pivoting` the permutation too (i32 [..., n]): column j of Q R is column
// permutation[j] of A. Signs as LAPACK chooses them.
//
// Derivative as in JAX: Townsend, "The QR decomposition: a derivative", 2018; of wide matrices by
// their first m columns; of full Q arXiv:2409.13374. R's diagonal must not hold zeros.
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

bool has_pivots(const Attrs& attrs) { return expect_attr<bool>("qr", attrs, "pivoting"); }
bool is_full(const Attrs& attrs) { return expect_attr<bool>("qr", attrs, "full_matrices"); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("qr", operands, 1);
  const Type& a = expect_matrices("qr", operands[0]);
  const Dim k = is_full(attrs) ? rows_of(a) : least_of(a);
  std::vector<Type> out{matrices_like(a, {rows_of(a), k}), matrices_like(a, {k, columns_of(a)})};
  if (has_pivots(attrs)) out.push_back(matrices_like(a, {columns_of(a)}).with(DType::i32));
  return out;
}

/// Rows [0, rows) and columns [0, columns).
Value* corner(Builder& b, Value* x, std::int64_t rows, std::int64_t columns) {
  return slice_dim(b, slice_dim(b, x, x->rank() - 2, 0, rows), x->rank() - 1, 0, columns);
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Values factors =
      b.create(has_pivots(op.attrs) ? "strata.geqp3" : "strata.geqrf", {operands[0]}).results();
  Value* a = factors.front();
  const std::int64_t m = rows_of(a->type()).size(), n = columns_of(a->type()).size(),
                     columns = is_full(op.attrs) ? m : std::min(m, n);
  Value* reflectors = corner(b, a, m, std::min(columns, n));
  if (columns > n) {
    Ints high(static_cast<std::size_t>(a->rank()), 0);
    high.back() = columns - n;
    reflectors = pad(b, reflectors, zeros(b, Type::scalar(a->dtype())), Ints(high.size(), 0), high);
  }
  Values out{b.create("strata.householder_product", {reflectors, factors.back()}).result(),
             triangle(b, corner(b, a, columns, n), false)};
  if (has_pivots(op.attrs)) out.push_back(factors[1]);
  return out;
}

struct Pair {
  Value *q, *r;
};

/// Of m >= n.
Pair thin_tangents(Builder& b, const Pair& x, Value* da) {
  Value* da_r = triangular_solve(b, x.r, da, false, false, false, "NO_TRANSPOSE");
  Value* inside = matmul(b, adjoint(b, x.q), da_r);
  Value* below = triangle(b, inside, true, true);
  Value* turn = sub(b, below, adjoint(b, below));
  if (is_complex(turn->dtype())) {
    Value* im = imag(b, inside);
    turn = add(b, turn, mul(b, identity_like(b, inside), complex(b, zeros_like(b, im), im)));
  }
  return {add(b, matmul(b, x.q, sub(b, turn, inside)), da_r), matmul(b, sub(b, inside, turn), x.r)};
}

Pair wide_tangents(Builder& b, const Pair& x, Value* a, Value* da) {
  const int last = a->rank() - 1;
  const std::int64_t m = rows_of(a->type()).size(), n = columns_of(a->type()).size();
  auto first = [&](Value* v) { return slice_dim(b, v, last, 0, m); };
  auto rest = [&](Value* v) { return slice_dim(b, v, last, m, n); };
  Pair d = thin_tangents(b, {x.q, first(x.r)}, first(da));
  Value* dr = add(b, matmul(b, adjoint(b, d.q), rest(a)), matmul(b, adjoint(b, x.q), rest(da)));
  return {d.q, concatenate(b, {d.r, dr}, last)};
}

/// Of m > n with all of Q: equations 32 and 33 of the paper, with Z = Q_pn (Q_nn - I)^-1.
Pair full_tangents(Builder& b, const Pair& x, Value* da) {
  const int rows = da->rank() - 2, columns = rows + 1;
  const std::int64_t m = rows_of(da->type()).size(), n = columns_of(da->type()).size();
  Value *q = slice_dim(b, x.q, columns, 0, n), *others = slice_dim(b, x.q, columns, n, m);
  Pair d = thin_tangents(b, {q, corner(b, x.r, n, n)}, da);
  auto upper = [&](Value* v) { return slice_dim(b, v, rows, 0, n); };
  auto lower = [&](Value* v) { return slice_dim(b, v, rows, n, m); };
  Value* system = adjoint(b, sub(b, upper(q), identity_like(b, upper(q))));
  Value* z_adjoint = solve(b, system, adjoint(b, lower(q)));
  Value* z = adjoint(b, z_adjoint);
  Value* change = adjoint(b, sub(b, lower(d.q), matmul(b, z, upper(d.q))));
  Value* dq = sub(b, matmul(b, d.q, z_adjoint), matmul(b, add(b, q, matmul(b, others, z)), change));
  Ints low(static_cast<std::size_t>(da->rank()), 0), high = low;
  high[high.size() - 2] = m - n;
  return {concatenate(b, {d.q, dq}, columns),
          pad(b, d.r, zeros(b, Type::scalar(da->dtype())), low, high)};
}

/// Column j is column order[j] of x.
Value* columns_taken(Builder& b, Value* x, Value* order) {
  return transposed(b, rows_taken(b, transposed(b, x), order));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Values out = again(b, op, operands).results();
  if (!tangents[0]) return {out, Values(out.size(), nullptr)};
  Value *a = operands[0], *da = tangents[0];
  if (has_pivots(op.attrs)) a = columns_taken(b, a, out[2]), da = columns_taken(b, da, out[2]);
  const std::int64_t m = rows_of(a->type()).size(), n = columns_of(a->type()).size();
  const Pair x{out[0], out[1]};
  const Pair d = m < n                        ? wide_tangents(b, x, a, da)
                 : m > n && is_full(op.attrs) ? full_tangents(b, x, da)
                                              : thin_tangents(b, x, da);
  Values dx{d.q, d.r};
  if (has_pivots(op.attrs)) dx.push_back(nullptr);
  return {out, dx};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t) {
  Values out = b.create(op.info(), {operands[0]}, op.attrs).results();
  return {out, std::vector<bool>(out.size(), true)};
}

Work cost(const Op& op) {
  const Type& a = op.operand(0)->type();
  return {4 * elements(op) * static_cast<double>(std::max<std::int64_t>(columns_of(a).bound(), 1)),
          bytes_moved(op)};
}

}  // namespace

const OpDef& qr_def() {
  static const OpDef def{
      .info = {.name = "strata.qr", .infer = infer},
      .summary = "orthogonal and triangular factors of matrices (jax.lax.linalg.qr)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = None{"not linear: its derivative is expressed by other operations"},
      .batch = batch,
      .shard = shard_matrices,
      .cost = cost,
      .lowering = None{"said by reflectors (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
