#include "strata/op/control/token_io.h"

#include "strata/op/quantized/quantized.h"

namespace strata::op::token_io {
namespace {

double bytes_of(const Values& values) {
  double bytes = 0;
  for (const Value* v : values)
    if (v->type().is_tensor() && v->shape().is_static())
      bytes += static_cast<double>(v->type().bytes());
  return bytes;
}

Work cost_of_giving(const Op& op) { return {0, bytes_of(op.operands)}; }
Work cost_of_bringing(const Op& op) { return {0, bytes_of(op.results())}; }

}  // namespace

std::vector<Type> infer_giving(const char* op, std::span<Value* const> operands) {
  if (operands.empty() || !operands.back()->type().is_token())
    throw Error(op, "the last operand must be a token, got {} (I2)",
                operands.empty() ? "none" : operands.back()->type().to_string());
  for (const Value* v : operands.first(operands.size() - 1))
    if (!v->type().is_tensor())
      throw Error(op, "inputs must be tensors, got {} (I1)", v->type().to_string());
  return {Type::token()};
}

void verify_bringing(const char* self, const Op& op, const Constraints& constraints) {
  if (op.operands.size() != 1) throw Error(self, "expected 1 operand, got {}", op.operands.size());
  if (!op.operand(0)->type().is_token())
    throw Error(self, "the operand must be a token, got {} (I1)",
                op.operand(0)->type().to_string());
  if (op.num_results() == 0) throw Error(self, "needs a result, got 0{}", constraints.some);
  for (int i = 0; i + 1 < op.num_results(); ++i)
    if (!op.result(i)->type().is_tensor())
      throw Error(self, "result {} must be a tensor, got {}{}", i, op.result(i)->type().to_string(),
                  constraints.tensors);
  const Type& last = op.result(op.num_results() - 1)->type();
  if (!last.is_token())
    throw Error(self, "the last result must be a token, got {}{}", last.to_string(),
                constraints.token);
}

Literals brought(const char* self, const Op& op, Literals values, const std::string& otherwise) {
  values.push_back(Literal(Type::token()));
  bool fits = static_cast<int>(values.size()) == op.num_results();
  for (int i = 0; fits && i < op.num_results(); ++i)
    fits = values[static_cast<std::size_t>(i)].type() == op.result(i)->type();
  if (!fits) throw Error(self, "{}", otherwise).at(op.where.text());
  return values;
}

OpDef definition(Description d) {
  d.info.has_effect = true;
  d.info.quantized = quantized::as_stated;
  return {
      .info = std::move(d.info),
      .summary = d.summary,
      .traits = {.takes_complex = true, .takes_quantized = true},
      .evaluate = d.by_reference,
      .jvp = d.no_derivative,
      .linearize = d.no_derivative,
      .transpose = d.no_derivative,
      .batch = None{"an effect happens once, not once for each example"},
      .shard = d.no_sharding,
      .cost = d.side == Side::gives ? cost_of_giving : cost_of_bringing,
      .lowering = d.no_code,
  };
}

}  // namespace strata::op::token_io
