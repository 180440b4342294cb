// triangular_solve: X of op(a) X = b, or of X op(a) = b, for triangular matrices a; the last two
// dimensions.
//
// Contract (spec: triangular_solve): operands a, b of floats or complex numbers; attributes
// `left_side`, `lower`, `unit_diagonal`, and `transpose_a`, which says op: NO_TRANSPOSE, TRANSPOSE
// or ADJOINT.
//   (C1) one element type; (C2) one rank, at least 2; (C3) equal dimensions before the last two, a
//   square and as long as b's rows (left_side) or columns; (C4) the result has b's type.
// Only the named triangle of a is read, without its diagonal where that is taken as ones.
//
// Derivative as in JAX: linear in b; for a, dX = -op(a)^-1 op(da) X with da's triangle.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/loop/kernel/linalg/small.h"
#include "strata/loop/kernel/native.h"
#include "strata/op/linalg/matrix.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

struct Flags {
  bool left, lower, unit;
  std::string op;
  explicit Flags(const Attrs& attrs)
      : left(flag(attrs, "left_side")),
        lower(flag(attrs, "lower")),
        unit(flag(attrs, "unit_diagonal")),
        op(expect_attr<std::string>("triangular_solve", attrs, "transpose_a")) {
    if (op != "NO_TRANSPOSE" && op != "TRANSPOSE" && op != "ADJOINT")
      throw Error("triangular_solve", "there is no transpose_a {} (I6)", op);
  }
  static bool flag(const Attrs& attrs, const char* name) {
    return expect_attr<bool>("triangular_solve", attrs, name);
  }
};

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "triangular_solve";
  expect_operands(self, operands, 2);
  Flags flags(attrs);
  const Type &a = operands[0]->type(), &b = operands[1]->type();
  if (!is_inexact(a.dtype()))
    throw Error(self, "takes floats and complex numbers, got {} (I1)", a.to_string());
  if (a.dtype() != b.dtype())
    throw Error(self, "the operands must have one element type, got {} and {} (C1)", a.to_string(),
                b.to_string());
  if (a.rank() < 2 || a.rank() != b.rank())
    throw Error(self, "takes matrices of one rank, got {} and {} (C2)", a.to_string(),
                b.to_string());
  int rank = a.rank();
  std::vector<Dim> out = b.shape().dims();
  for (int d = 0; d < rank - 2; ++d) {
    if (!may_equal(a.shape().dim(d), b.shape().dim(d)))
      throw Error(self, "dimension {} differs: {} and {} (C3)", d, a.to_string(), b.to_string());
    out[static_cast<std::size_t>(d)] = merged(b.shape().dim(d), a.shape().dim(d));
  }
  if (!may_equal(a.shape().dim(rank - 2), a.shape().dim(rank - 1)))
    throw Error(self, "a must be square, got {} (C3)", a.to_string());
  int side = flags.left ? rank - 2 : rank - 1;
  if (!may_equal(a.shape().dim(rank - 1), b.shape().dim(side)))
    throw Error(self, "dimension {} of {} must be as long as the rows of {} (C3)", side,
                b.to_string(), a.to_string());
  return {b.with(Shape(std::move(out)))};  // (C4)
}

const char* symbol(const Op&) { return "strata_triangular_solve"; }

std::int64_t sides(const Op& op) {
  const Type& b = op.operand(1)->type();
  return b.shape()[b.rank() - (Flags(op.attrs).left ? 1 : 2)];
}
std::int64_t grid(const Op& op) {
  if (op.result()->shape().count() == 0) return 0;
  const Type& a = op.operand(0)->type();
  return loop::small::triangular_points(batch_count(a.shape()), a.shape()[a.rank() - 1], sides(op));
}
std::vector<std::int64_t> params(const Op& op) {
  Flags f(op.attrs);
  const Type& a = op.operand(0)->type();
  std::int64_t which = f.op == "NO_TRANSPOSE" ? 0 : f.op == "TRANSPOSE" ? 1 : 2;
  return {factor_element("triangular_solve", a.dtype()),
          f.left,
          f.lower,
          f.unit,
          which,
          a.shape()[a.rank() - 1],
          sides(op),
          batch_count(a.shape())};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  loop::run_native(symbol(op),
                   {const_cast<std::byte*>(operands[0].data()),
                    const_cast<std::byte*>(operands[1].data()), out.mutable_data()},
                   params(op), grid(op));
  return {std::move(out)};
}

Value* solve(Builder& b, const Flags& f, Value* a, Value* rhs) {
  return triangular_solve(b, a, rhs, f.left, f.lower, f.unit, f.op);
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Flags f(op.attrs);
  Value* x = again(b, op, operands).result();
  Value *from_a = nullptr, *from_b = nullptr;
  if (tangents[0]) {
    Value* da = neg(b, triangle(b, tangents[0], f.lower, f.unit));
    if (f.op == "TRANSPOSE") da = transposed(b, da);
    if (f.op == "ADJOINT") da = adjoint(b, da);
    from_a = solve(b, f, operands[0], f.left ? matmul(b, da, x) : matmul(b, x, da));
  }
  if (tangents[1]) from_b = solve(b, f, operands[0], tangents[1]);
  return {{x}, {add_or_null(b, from_a, from_b)}};
}

/// Linear in b: the transposed matrix. That of an adjoint is a conjugate.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  STRATA_CHECK(!linear[0], "a triangular system is linear in its right hand side alone");
  if (!ct[0]) return {nullptr, nullptr};
  Flags f(op.attrs);
  Value* a = f.op == "ADJOINT" ? conj(b, operands[0]) : operands[0];
  f.op = f.op == "NO_TRANSPOSE" ? "TRANSPOSE" : "NO_TRANSPOSE";
  return {nullptr, solve(b, f, a, ct[0])};
}

/// Systems of one matrix are one system with more right hand sides.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  if (const Flags f(op.attrs); !batched[0] && operands[1]->type().shape().is_static())
    return {{sides_apart(b, solve(b, f, operands[0], sides_together(b, operands[1], f.left)), size,
                         f.left)},
            {true}};
  Values full;
  for (std::size_t i = 0; i < 2; ++i)
    full.push_back(batched_operand(b, operands[i], batched[i], size));
  return {{b.create(op.info(), full, op.attrs).result()}, {true}};
}

/// The dimension of the right hand sides passes through too.
Factors shard(const Op& op) {
  FactorTable t(op);
  int rank = op.result()->rank(), side = rank - (Flags(op.attrs).left ? 1 : 2);
  for (int d = 0; d < rank; ++d) {
    int f = t.factor(d < rank - 2 || d == side ? 'p' : 'n', op.result()->shape().dim(d).bound());
    t.operand(1, d, f);
    t.result(0, d, f);
    if (d < rank - 2) t.operand(0, d, f);
  }
  for (int d = rank - 2; d < rank; ++d)
    t.operand(0, d, t.factor('n', op.operand(0)->shape().dim(d).bound()));
  return t.take();
}

Work cost(const Op& op) {
  std::int64_t n = op.operand(0)->shape().dim(op.operand(0)->rank() - 1).bound();
  return {elements(op) * static_cast<double>(n > 0 ? n : 1), bytes_moved(op)};
}

}  // namespace

const OpDef& triangular_solve_def() {
  static const OpDef def{
      .info = ir::inferred_by("C4",
                              {.name = "stablehlo.triangular_solve",
                               .infer = infer,
                               .text = &ir::formats::triangular_solve,
                               .quantized = quantized::baseline},
                              "C1"),
      .summary = "the solution of triangular systems (spec: triangular_solve)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol, grid, params},
  };
  return def;
}

}  // namespace strata::op
