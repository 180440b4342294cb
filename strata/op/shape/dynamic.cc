#include "strata/op/shape/dynamic.h"

#include "strata/op/constrained.h"
#include "strata/op/decomposed.h"

namespace strata::op {
namespace {

/// Which part of the whole a shard is would show in its shape operands.
Factors whole_factors(const Op& op) {
  FactorTable t(op);
  for (int i = 0; i < static_cast<int>(op.operands.size()); ++i)
    for (int d = 0; d < op.operand(i)->rank(); ++d)
      t.operand(i, d, t.factor('n', op.operand(i)->shape().dim(d).bound()));
  for (int i = 0; i < op.num_results(); ++i)
    for (int d = 0; d < op.result(i)->rank(); ++d)
      t.result(i, d, t.factor('n', op.result(i)->shape().dim(d).bound()));
  return t.take();
}

}  // namespace

OpDef dynamic(const DynamicRow& row) {
  if (row.needs != nullptr) state_needs(row.name, row.needs);
  return {
      .info = {.name = row.name,
               .text = row.text,
               .verify = row.verify,
               .quantized = row.quantized},
      .summary = row.summary,
      .traits = {},
      .evaluate = evaluate_refined,
      .jvp = jvp_decomposed,
      .linearize = None{"no regions"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = whole_factors,
      .cost = move_cost,
      .lowering = None{"said by a static operation where its shape is known"},
      .decompose = row.decompose,
  };
}

std::vector<int> unstated_sizes(const Op& op) {
  return op.result()->shape().is_static() ? std::vector<int>{}
                                          : std::vector{static_cast<int>(op.operands.size()) - 1};
}

void expect_shape_operand(std::string_view op, const char* what, const Value* v, int count) {
  const Type& type = v->type();
  const Constrained c(what);
  if (type.rank() != 1 || !is_integer(type.dtype()))
    throw Error(std::string(op), "{} must be integers of rank 1, got {}{}", c.what,
                type.to_string(), c.number);
  if (count >= 0 && !may_equal(type.shape().dim(0), Dim(count)))
    throw Error(std::string(op), "{} must have {} entries, got {}{}", c.what, count,
                type.to_string(), c.number);
}

void expect_element_type(const Op& op, const char* constraint) {
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  if (!out.is_tensor() || in.dtype() != out.dtype())
    throw Error(std::string(short_name(op.name())),
                "the result has the operand's element type, got {} and {} ({})", in.to_string(),
                out.to_string(), constraint);
}

}  // namespace strata::op
