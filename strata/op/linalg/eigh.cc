// strata.eigh: eigenvalues of Hermitian matrices and their eigenvectors
// (loop/kernel/linalg/eigh.cc). The lower triangle is read.
//
// Results: the eigenvectors as columns, of a's type; the eigenvalues in ascending order, of the
// real type.
//
// Derivative of distinct eigenvalues: Giles, "Collected matrix derivative results for forward and
// reverse mode algorithmic differentiation", 2008, as in JAX: dw = diag(V^H dA V), dV = V (F . V^H
// dA V), F_ij = 1 / (w_j - w_i), 0 on the diagonal.
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("eigh", operands, 1);
  const Type& a = expect_matrices("eigh", operands[0], true);
  return {a, matrices_like(a, {rows_of(a)}).with(real_part(a.dtype()))};
}

const char* symbol(const Op&) { return "strata_eigh"; }
std::vector<std::int64_t> params(const Op& op) {
  const Type& a = op.operand(0)->type();
  return {factor_element("eigh", a.dtype()), rows_of(a).size()};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Values out = again(b, op, operands).results();
  if (!tangents[0]) return {out, {nullptr, nullptr}};
  Value *v = out[0], *w = convert(b, out[1], v->dtype());
  Value* turned = matmul(b, matmul(b, adjoint(b, v), hermitian(b, tangents[0])), v);
  Value* diagonal = diagonal_of(b, turned);
  return {out,
          {matmul(b, v, mul(b, inverse_differences(b, w, v), turned)),
           is_complex(v->dtype()) ? real(b, diagonal) : diagonal}};
}

}  // namespace

const OpDef& eigh_def() {
  static const OpDef def = matrix_kernel({
      .name = "strata.eigh",
      .summary = "eigenvalues and eigenvectors of Hermitian matrices (jax.lax.linalg.eigh)",
      .infer = infer,
      .jvp = jvp,
      .symbol = symbol,
      .params = params,
  });
  return def;
}

}  // namespace strata::op
