// strata.svd: A = U diag(s) V^H (loop/kernel/linalg/svd.cc) of matrices [..., m, n]; k = min(m, n).
//
// Results: s [..., k] of the real type in descending order; where `compute_uv` U [..., m, k] and
// V^H [..., k, n], or [..., m, m] and
// [..., n, n] where `full_matrices`.
//
// Derivative as in JAX (Giles 2008; Townsend, "Differentiating the singular value decomposition",
// 2016): of distinct singular values, those of square matrices distinct from 0. There is none of
// full U and V^H of matrices that are not square.
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

bool has_vectors(const Attrs& attrs) { return expect_attr<bool>("svd", attrs, "compute_uv"); }
bool is_full(const Attrs& attrs) { return expect_attr<bool>("svd", attrs, "full_matrices"); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("svd", operands, 1);
  const Type& a = expect_matrices("svd", operands[0]);
  const Dim k = least_of(a);
  const bool full = is_full(attrs);
  std::vector<Type> out{matrices_like(a, {k}).with(real_part(a.dtype()))};
  if (!has_vectors(attrs)) return out;
  out.push_back(matrices_like(a, {rows_of(a), full ? rows_of(a) : k}));
  out.push_back(matrices_like(a, {full ? columns_of(a) : k, columns_of(a)}));
  return out;
}

const char* symbol(const Op& op) {
  return has_vectors(op.attrs) ? "strata_svd" : "strata_singular_values";
}
std::vector<std::int64_t> params(const Op& op) {
  const Type& a = op.operand(0)->type();
  return {factor_element("svd", a.dtype()), rows_of(a).size(), columns_of(a).size(),
          is_full(op.attrs)};
}

/// 1 / x, and 0 where `zero` says so (1), of numbers that are 0 there.
Value* inverse(Builder& b, Value* x, Value* zero) {
  return sub(b, div(b, full_like(b, x, 1), add(b, x, zero)), zero);
}

struct Thin {
  Value *s, *u, *vh;
};

/// dx without its part in the span of U, each column divided by its singular value: what a tall U
/// gains.
Value* beyond(Builder& b, Value* dx, Value* u, Value* s) {
  return div(b, sub(b, dx, matmul(b, u, matmul(b, adjoint(b, u), dx))), in_columns(b, s, u));
}

/// ds, dU, dV^H
Values tangents_of(Builder& b, const Thin& x, Value* da) {
  const DType dtype = x.u->dtype();
  Value *v = adjoint(b, x.vh), *ds_full = matmul(b, matmul(b, adjoint(b, x.u), da), v);
  Value* diagonal = diagonal_of(b, ds_full);
  Value *s = convert(b, x.s, dtype), *si = in_rows(b, s, ds_full), *sj = in_columns(b, s, ds_full);
  Value* f = inverse(b, mul(b, add(b, sj, si), sub(b, sj, si)), identity_like(b, ds_full));
  Value *right = mul(b, sj, ds_full), *left = mul(b, si, ds_full);
  Value* is_zero = convert(b, compare(b, x.s, zeros_like(b, x.s), "EQ"), x.s->dtype());
  Value* s_inverse = mul(b, in_rows(b, convert(b, inverse(b, x.s, is_zero), dtype), ds_full),
                         identity_like(b, ds_full));
  Value* phase =
      mul(b, mul(b, full_like(b, ds_full, 0.5), sub(b, ds_full, adjoint(b, ds_full))), s_inverse);
  Value* du = matmul(b, x.u, add(b, mul(b, f, add(b, right, adjoint(b, right))), phase));
  Value* dv = matmul(b, v, mul(b, f, add(b, left, adjoint(b, left))));
  const std::int64_t m = rows_of(da->type()).size(), n = columns_of(da->type()).size();
  if (m > n) du = add(b, du, beyond(b, matmul(b, da, v), x.u, s));
  if (n > m) dv = add(b, dv, beyond(b, matmul(b, adjoint(b, da), x.u), v, s));
  return {is_complex(dtype) ? real(b, diagonal) : diagonal, du, adjoint(b, dv)};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  const Type& a = operands[0]->type();
  const bool vectors = has_vectors(op.attrs);
  if (!tangents[0]) return {again(b, op, operands).results(), Values(vectors ? 3 : 1, nullptr)};
  if (vectors && is_full(op.attrs) && !(rows_of(a) == columns_of(a)))
    throw Error("svd", "full matrices of {} have no derivative; ask for full_matrices = false",
                a.to_string())
        .unsupported();
  Values thin =
      b.create("strata.svd", {operands[0]}, {{"compute_uv", true}, {"full_matrices", false}})
          .results();
  Values dx = tangents_of(b, {thin[0], thin[1], thin[2]}, tangents[0]);
  if (vectors) return {thin, dx};
  return {{thin[0]}, {dx[0]}};
}

}  // namespace

const OpDef& svd_def() {
  static const OpDef def = matrix_kernel({
      .name = "strata.svd",
      .summary = "singular values and vectors (jax.lax.linalg.svd)",
      .infer = infer,
      .jvp = jvp,
      .symbol = symbol,
      .params = params,
  });
  return def;
}

}  // namespace strata::op
