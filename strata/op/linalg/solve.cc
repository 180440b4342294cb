// strata.solve: X of a X = b, or of a^T X = b where `transpose`, of square matrices [..., n, n] and
// [..., n, k] of one batch and type.
//
// By strata.lu; that of one matrix, for several right hand sides and for the derivative, is
// computed once. A singular matrix gives infinities and NaN. Linear in b; for a, dX = -a^-1 da X.
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

bool is_transposed(const Op& op) { return op.attr<bool>("transpose"); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "solve";
  expect_operands(self, operands, 2);
  expect_attr<bool>(self, attrs, "transpose");
  const Type &a = expect_matrices(self, operands[0], true), &b = expect_matrices(self, operands[1]);
  if (a.dtype() != b.dtype() || a.rank() != b.rank())
    throw Error(self, "the operands must have one element type and rank, got {} and {}",
                a.to_string(), b.to_string());
  for (int d = 0; d < a.rank() - 1; ++d)
    if (!may_equal(a.shape().dim(d), b.shape().dim(d)))
      throw Error(self, "dimension {} differs: {} and {}", d, a.to_string(), b.to_string());
  return {b};
}

/// Where each row went.
Value* inverse(Builder& b, Value* permutation) {
  return b
      .create("strata.argsort", {permutation},
              {{"descending", false}, {"order", std::string("total")}})
      .result();
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Values lu = b.create("strata.lu", {operands[0]}).results();
  auto by = [&](Value* rhs, bool lower, const char* how) {
    return triangular_solve(b, lu[0], rhs, true, lower, lower, how);
  };
  if (!is_transposed(op))
    return {by(by(rows_taken(b, operands[1], lu[2]), true, "NO_TRANSPOSE"), false, "NO_TRANSPOSE")};
  return {
      rows_taken(b, by(by(operands[1], false, "TRANSPOSE"), true, "TRANSPOSE"), inverse(b, lu[2]))};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* x = again(b, op, operands).result();
  Value* rhs = tangents[1];
  if (Value* da = tangents[0])
    rhs = add_or_null(b, rhs, neg(b, matmul(b, is_transposed(op) ? transposed(b, da) : da, x)));
  return {{x}, {rhs ? solve(b, operands[0], rhs, is_transposed(op)) : nullptr}};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  STRATA_CHECK(!linear[0], "a system is linear in its right hand side alone");
  return {nullptr, ct[0] ? solve(b, operands[0], ct[0], !is_transposed(op)) : nullptr};
}

/// Systems of one matrix are one system with more right hand sides: it is factored once.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  if (!batched[0] && operands[1]->type().shape().is_static())
    return {{sides_apart(
                b, solve(b, operands[0], sides_together(b, operands[1], true), is_transposed(op)),
                size, true)},
            {true}};
  Value *a = batched_operand(b, operands[0], batched[0], size),
        *rhs = batched_operand(b, operands[1], batched[1], size);
  return {{solve(b, a, rhs, is_transposed(op))}, {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  const int rank = op.result()->rank();
  for (int d = 0; d < rank; ++d) {
    int f = t.factor(d == rank - 2 ? 'n' : 'p', op.result()->shape().dim(d).bound());
    t.operand(1, d, f), t.result(0, d, f);
    t.operand(0, d, d < rank - 2 ? f : t.factor('n', op.operand(0)->shape().dim(d).bound()));
  }
  return t.take();
}

Work cost(const Op& op) {
  const double n = static_cast<double>(
      std::max<std::int64_t>(op.operand(0)->shape().dim(op.operand(0)->rank() - 1).bound(), 1));
  return {elements(op) * n * 2, bytes_moved(op)};
}

}  // namespace

const OpDef& solve_def() {
  static const OpDef def{
      .info = {.name = "strata.solve", .infer = infer},
      .summary = "the solution of systems of linear equations (jax.numpy.linalg.solve)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = None{"said by strata.lu and triangular systems (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
