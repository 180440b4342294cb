// cholesky: the factor of Hermitian positive definite matrices, the last two dimensions: L L^H, or
// U^H U where not `lower`.
//
// Contract (spec: cholesky): operand a of floats or complex numbers; attribute `lower` (absent:
// false).
//   (C1) the result has a's type; (C2) a has at least 2 dimensions; (C3) the last two are equal.
// Only the named triangle is read; of a complex diagonal the real part. The factor's other triangle
// is zero. A matrix that is not positive definite gives NaN throughout the triangle.
//
// Derivative: Murray, "Differentiation of the Cholesky decomposition", 2016: dL = L phi(L^-1 dA
// L^-H), where phi takes the lower triangle with half the diagonal. The upper factor uses way of
// the lower one of the adjoint.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/loop/kernel/linalg/small.h"
#include "strata/loop/kernel/native.h"
#include "strata/op/linalg/matrix.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

bool is_lower(const Op& op) { return op.attrs.get_or<bool>("lower", false); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "cholesky";
  expect_operands(self, operands, 1);
  const Type& a = operands[0]->type();
  if (!is_inexact(a.dtype()))
    throw Error(self, "takes floats and complex numbers, got {} (I1)", a.to_string());
  if (a.rank() < 2) throw Error(self, "takes matrices, got {} (C2)", a.to_string());
  if (!may_equal(a.shape().dim(a.rank() - 2), a.shape().dim(a.rank() - 1)))
    throw Error(self, "the matrices must be square, got {} (C3)", a.to_string());
  return {a};  // (C1)
}

const char* symbol(const Op&) { return "strata_cholesky"; }
std::int64_t grid(const Op& op) {
  const Shape& shape = op.result()->shape();
  const std::int64_t n = shape[shape.rank() - 1];
  return n == 0 ? 0 : loop::small::points(batch_count(shape), n, n);
}
std::vector<std::int64_t> params(const Op& op) {
  const Type& a = op.operand(0)->type();
  return {factor_element("cholesky", a.dtype()), is_lower(op), a.shape()[a.rank() - 1],
          batch_count(a.shape())};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  loop::run_native(symbol(op), {const_cast<std::byte*>(operands[0].data()), out.mutable_data()},
                   params(op), grid(op));
  return {std::move(out)};
}

/// dL from the tangent of a matrix of which the lower triangle counts.
Value* tangent_of_lower(Builder& b, Value* l, Value* da) {
  Value* right = triangular_solve(b, l, hermitian(b, da), false, true, false, "ADJOINT");
  Value* both = triangular_solve(b, l, right, true, true, false, "NO_TRANSPOSE");
  return matmul(b, l, with_diagonal_times(b, triangle(b, both, true), 0.5));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* factor = again(b, op, operands).result();
  if (!tangents[0]) return {{factor}, {nullptr}};
  if (is_lower(op)) return {{factor}, {tangent_of_lower(b, factor, tangents[0])}};
  return {{factor}, {adjoint(b, tangent_of_lower(b, adjoint(b, factor), adjoint(b, tangents[0])))}};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t) {
  return {{b.create(op.info(), {operands[0]}, op.attrs).result()}, {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d < op.result()->rank(); ++d) {
    int f = t.factor(d < op.result()->rank() - 2 ? 'p' : 'n', op.result()->shape().dim(d).bound());
    t.operand(0, d, f);
    t.result(0, d, f);
  }
  return t.take();
}

Work cost(const Op& op) {
  std::int64_t n = op.result()->shape().dim(op.result()->rank() - 1).bound();
  return {elements(op) * static_cast<double>(n > 0 ? n : 1) / 3, bytes_moved(op)};
}

}  // namespace

const OpDef& cholesky_def() {
  static const OpDef def{
      .info = ir::inferred_by("C1", {.name = "stablehlo.cholesky",
                                     .infer = infer,
                                     .text = &ir::formats::cholesky,
                                     .quantized = quantized::baseline}),
      .summary = "the triangular factor of positive definite matrices (spec: cholesky)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = None{"not linear: its derivative is expressed by other operations"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol, grid, params},
  };
  return def;
}

}  // namespace strata::op
