// stablehlo.infeed and stablehlo.outfeed: values from the host and to it.
//
// Contract (StableHLO): infeed(token) {infeed_config, layout}: results are what the host gave and a token;
//   (C1) there is a result; (C2) all but the last are tensors; (C3) the last is a token.
// outfeed(inputs..., token) {outfeed_config}: (I1) inputs are tensors; (I2) the last operand is a token; the result is a token.
// Both are effects. By reference, infeed takes the first of World::infeed and outfeed adds to World::outfeed (op/world.h).
#include "strata/op/quantized.h"
#include "strata/op/rules.h"
#include "strata/op/world.h"

namespace strata::op {
namespace {

constexpr None kHost{"the host's values have no derivative"};
constexpr None kOnce{"an effect happens once, not once for each example"};
constexpr None kWhole{"the host gives and takes whole arrays"};

void verify_infeed(const Op& op) {
  if (op.operands.size() != 1) throw Error("infeed", "expected 1 operand, got {}", op.operands.size());
  if (!op.operand(0)->type().is_token()) throw Error("infeed", "(I1) the operand must be a token, got {}", op.operand(0)->type().to_string());
  if (op.num_results() == 0) throw Error("infeed", "(C1) needs a result, got {}", op.num_results());
  for (int i = 0; i + 1 < op.num_results(); ++i)
    if (!op.result(i)->type().is_tensor())
      throw Error("infeed", "(C2) result {} must be a tensor, got {}", i, op.result(i)->type().to_string());
  const Type& last = op.result(op.num_results() - 1)->type();
  if (!last.is_token()) throw Error("infeed", "(C3) the last result must be a token, got {}", last.to_string());
}

std::vector<Type> infer_outfeed(std::span<Value* const> operands, const Attrs&, std::span<const std::unique_ptr<Block>>) {
  if (operands.empty() || !operands.back()->type().is_token())
    throw Error("outfeed", "(I2) the last operand must be a token, got {}", operands.empty() ? "none" : operands.back()->type().to_string());
  for (const Value* v : operands.first(operands.size() - 1))
    if (!v->type().is_tensor()) throw Error("outfeed", "(I1) inputs must be tensors, got {}", v->type().to_string());
  return {Type::token()};
}

Literals evaluate_infeed(const Op& op, std::span<const Literal>, Evaluator& evaluator) {
  std::deque<Literals>& queue = evaluator.process().world().infeed;
  if (queue.empty()) throw Error("infeed", "the infeed is empty").at(op.where.text());
  Literals out = std::move(queue.front());
  queue.pop_front();
  out.push_back(Literal(Type::token()));
  bool fits = static_cast<int>(out.size()) == op.num_results();
  for (int i = 0; fits && i < op.num_results(); ++i) fits = out[static_cast<std::size_t>(i)].type() == op.result(i)->type();
  if (!fits) throw Error("infeed", "the host gave values of other types than the results'").at(op.where.text());
  return out;
}

Literals evaluate_outfeed(const Op&, std::span<const Literal> operands, Evaluator& evaluator) {
  evaluator.process().world().outfeed.emplace_back(operands.begin(), operands.end() - 1);
  return {Literal(Type::token())};
}

/// Bytes of the tensors on one side.
template <bool results>
Work cost(const Op& op) {
  double bytes = 0;
  for (const Value* v : results ? op.results() : Values(op.operands))
    if (v->type().is_tensor() && v->shape().is_static()) bytes += static_cast<double>(v->type().bytes());
  return {0, bytes};
}

OpDef definition(ir::OpInfo info, const char* summary, Evaluate evaluate, Cost cost) {
  info.quantized = quantized::as_stated;
  return {
      .info = std::move(info),
      .summary = summary,
      .traits = {.takes_complex = true, .takes_quantized = true},
      .evaluate = evaluate,
      .jvp = kHost,
      .linearize = kHost,
      .transpose = kHost,
      .batch = kOnce,
      .shard = kWhole,
      .cost = cost,
      .lowering = None{"compiled programs have no host to talk to yet"},
  };
}

}  // namespace

const OpDef& infeed_def() {
  static const OpDef d = definition({.name = "stablehlo.infeed", .infer = nullptr, .has_effect = true, .verify = verify_infeed},
                                    "the host's next values (StableHLO, infeed)", evaluate_infeed, cost<true>);
  return d;
}
const OpDef& outfeed_def() {
  static const OpDef d = definition({.name = "stablehlo.outfeed", .infer = infer_outfeed, .has_effect = true},
                                    "gives values to the host (StableHLO, outfeed)", evaluate_outfeed, cost<false>);
  return d;
}

}  // namespace strata::op
