// strata.lu: P A = L U with partial pivoting (loop/kernel/linalg/lu.cc), of matrices [..., m, n],
// the last two dimensions.
//
// Results: L below the diagonal (its own is ones) and U on and above it, of a's type; pivots (i32
// [..., min(m, n)]), the row that row k was exchanged with, from 0; permutation (i32 [..., m]): row
// i of L U is row permutation[i] of A. As jax.lax.linalg.lu.
//
// Derivative as there: de Hoog, Anderssen and Lukas, "Differentiation of matrix functionals using
// triangular factorization", 2011: with F = L^-1 P dA U^-1, dL = L tril(F, -1) and dU = triu(F) U,
// of L and U made square by an identity.
#include "strata/loop/kernel/linalg/small.h"
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("lu", operands, 1);
  const Type& a = expect_matrices("lu", operands[0]);
  return {a, matrices_like(a, {least_of(a)}).with(DType::i32),
          matrices_like(a, {rows_of(a)}).with(DType::i32)};
}

const char* symbol(const Op&) { return "strata_lu"; }
std::vector<std::int64_t> params(const Op& op) {
  const Type& a = op.operand(0)->type();
  return {factor_element("lu", a.dtype()), rows_of(a).size(), columns_of(a).size(),
          batch_count(a.shape())};
}
std::int64_t grid(const Op& op) {
  const Type& a = op.operand(0)->type();
  return loop::small::points(batch_count(a.shape()), rows_of(a).size(), columns_of(a).size());
}

/// Zeros after the rows and columns of x.
Value* extended(Builder& b, Value* x, std::int64_t rows, std::int64_t columns) {
  Ints high(static_cast<std::size_t>(x->rank()), 0);
  high[high.size() - 2] = rows - rows_of(x->type()).size();
  high[high.size() - 1] = columns - columns_of(x->type()).size();
  return pad(b, x, zeros(b, Type::scalar(x->dtype())), Ints(high.size(), 0), high);
}

/// U with an identity in the rows that it lacks.
Value* square_upper(Builder& b, Value* u, std::int64_t n) {
  const std::int64_t have = rows_of(u->type()).size();
  Value* full = extended(b, u, n, n);
  if (have == n) return full;
  Type index(DType::i32, full->shape());
  Value* lacking = compare(b, iota(b, index, full->rank() - 2),
                           constant(b, index, static_cast<double>(have)), "GE");
  return select(b, lacking, identity_like(b, full), full);
}

Value* tangent(Builder& b, Value* factors, Value* permutation, Value* da) {
  const Type& a = factors->type();
  const std::int64_t m = rows_of(a).size(), n = columns_of(a).size(), k = std::min(m, n);
  Value* l = extended(b, triangle(b, slice_dim(b, factors, a.rank() - 1, 0, k), true, true), m, m);
  Value* u = square_upper(b, triangle(b, slice_dim(b, factors, a.rank() - 2, 0, k), false), n);
  Value* f =
      triangular_solve(b, l, rows_taken(b, da, permutation), true, true, true, "NO_TRANSPOSE");
  f = triangular_solve(b, u, f, false, false, false, "NO_TRANSPOSE");
  Value* below = triangle(b, f, true, true);
  return add(b, add(b, matmul(b, l, below), below), matmul(b, triangle(b, f, false), u));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Values out = again(b, op, operands).results();
  return {out, {tangents[0] ? tangent(b, out[0], out[2], tangents[0]) : nullptr, nullptr, nullptr}};
}

}  // namespace

const OpDef& lu_def() {
  static const OpDef def = matrix_kernel({
      .name = "strata.lu",
      .summary = "triangular factors of matrices with exchanged rows (jax.lax.linalg.lu)",
      .infer = infer,
      .jvp = jvp,
      .symbol = symbol,
      .params = params,
      .grid = grid,
  });
  return def;
}

}  // namespace strata::op
