// stablehlo.dot: the product of vectors and matrices, a deprecated spelling of dot_general.
//
// Contract (StableHLO, dot): lhs and rhs of rank 1 or 2; lhs's last dimension and rhs's first have
// one size; the result's shape is what remains. Its dtype is the program's choice.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("dot", operands, 2);
  const Type &lhs = operands[0]->type(), &rhs = operands[1]->type();
  auto vector_or_matrix = [](const Type& type) { return type.rank() == 1 || type.rank() == 2; };
  if (!vector_or_matrix(lhs) || !vector_or_matrix(rhs))
    throw Error("dot", "operands must have rank 1 or 2, got {} and {}", lhs.to_string(),
                rhs.to_string());
  if (!may_equal(lhs.shape().dim(lhs.rank() - 1), rhs.shape().dim(0)))
    throw Error("dot", "the last dimension of {} and the first of {} differ in size",
                lhs.to_string(), rhs.to_string());
  std::vector<Dim> dims;
  if (lhs.rank() == 2) dims.push_back(lhs.shape().dim(0));
  if (rhs.rank() == 2) dims.push_back(rhs.shape().dim(1));
  return {lhs.expressed().with(Shape(std::move(dims)))};
}

void verify(const Op& op) {
  Type inferred = infer(op.operands, op.attrs, op.regions)[0];
  if (op.num_results() != 1) throw Error("dot", "has one result, got {}", op.num_results());
  const Type& stated = op.result()->type();
  if (!stated.is_tensor() || !may_equal(stated.shape(), inferred.shape()))
    throw Error("dot", "the result is {}, but the operands give {}", stated.to_string(),
                inferred.to_string());
  if (is_complex(stated.dtype()) != is_complex(inferred.dtype()))
    throw Error("dot", "a product of {} cannot be {}", name(op.operand(0)->dtype()),
                name(stated.dtype()));
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  return {dot_general(b, operands[0], operands[1], {{}, {}, {operands[0]->rank() - 1}, {0}},
                      op.result()->dtype())};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  return jvp_decomposed(b, op, operands, tangents);
}

Factors shard(const Op& op) {
  FactorTable t(op);
  int at = 0;
  const Value *lhs = op.operand(0), *rhs = op.operand(1);
  if (lhs->rank() == 2) {
    int f = t.factor('p', lhs->shape().dim(0).bound());
    t.operand(0, 0, f);
    t.result(0, at++, f);
  }
  if (rhs->rank() == 2) {
    int f = t.factor('p', rhs->shape().dim(1).bound());
    t.operand(1, 1, f);
    t.result(0, at, f);
  }
  int k = t.factor('r', rhs->shape().dim(0).bound());
  t.operand(0, lhs->rank() - 1, k);
  t.operand(1, 0, k);
  return t.take();
}

Work cost(const Op& op) {
  return {2 * elements(op) *
              static_cast<double>(std::max<std::int64_t>(op.operand(1)->shape().dim(0).bound(), 1)),
          bytes_moved(op)};
}

}  // namespace

const OpDef& dot_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.dot",
               .infer = infer,
               .text = &ir::formats::dot,
               .verify = verify,
               .quantized = quantized::product},
      .summary = "the product of vectors and matrices (StableHLO, dot; deprecated)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = shard,
      .cost = cost,
      .lowering = None{"a dot_general (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
