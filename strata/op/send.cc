// stablehlo.send and stablehlo.recv: values through a channel.
//
// Contract (StableHLO): send(inputs..., token) and recv(token) with `channel_id`, `channel_type`, `is_host_transfer`,
// `source_target_pairs`. send gives a token; recv gives tensors and a token.
//   (C1) source_target_pairs are pairs; (C2) their sources and (C3) their targets are unique, (C4) not negative (beyond that it is
//   for the grid to know); (C5) channel_type is DEVICE_TO_DEVICE (1) unless is_host_transfer, which is DEVICE_TO_HOST (2) of a send
//   and HOST_TO_DEVICE (3) of a recv.
// Both are effects. By reference a channel keeps what was sent in order; recv waits for it (op/world.h).
#include "strata/ir/text/format.h"
#include "strata/op/collective.h"
#include "strata/op/quantized.h"

namespace strata::op {
namespace {

constexpr None kElsewhere{"what happens at the channel's other end is not known here"};
constexpr None kOnce{"an effect happens once, not once for each example"};
constexpr None kWhole{"channels carry whole arrays"};

constexpr std::int64_t kDeviceToDevice = 1, kDeviceToHost = 2, kHostToDevice = 3;

void expect_channel(const char* op, const Attrs& attrs, std::int64_t host_type) {
  expect_attr<std::int64_t>(op, attrs, "channel_id");
  std::int64_t type = expect_attr<std::int64_t>(op, attrs, "channel_type");
  bool host = attrs.get_or<bool>("is_host_transfer", false);
  if (type != (host ? host_type : kDeviceToDevice))
    throw Error(op, "(C5) channel type {} does not go with is_host_transfer = {}", type, host);
  collective::expect_pairs(op, attrs);
}

std::vector<Type> infer_send(std::span<Value* const> operands, const Attrs& attrs, std::span<const std::unique_ptr<Block>>) {
  if (operands.empty() || !operands.back()->type().is_token())
    throw Error("send", "(I2) the last operand must be a token, got {}", operands.empty() ? "none" : operands.back()->type().to_string());
  for (const Value* v : operands.first(operands.size() - 1))
    if (!v->type().is_tensor()) throw Error("send", "(I1) inputs must be tensors, got {}", v->type().to_string());
  expect_channel("send", attrs, kDeviceToHost);
  return {Type::token()};
}

void verify_recv(const Op& op) {
  if (op.operands.size() != 1) throw Error("recv", "expected 1 operand, got {}", op.operands.size());
  if (!op.operand(0)->type().is_token()) throw Error("recv", "(I1) the operand must be a token, got {}", op.operand(0)->type().to_string());
  if (op.num_results() == 0) throw Error("recv", "needs a result");
  for (int i = 0; i + 1 < op.num_results(); ++i)
    if (!op.result(i)->type().is_tensor()) throw Error("recv", "result {} must be a tensor, got {}", i, op.result(i)->type().to_string());
  const Type& last = op.result(op.num_results() - 1)->type();
  if (!last.is_token()) throw Error("recv", "the last result must be a token, got {}", last.to_string());
  expect_channel("recv", op.attrs, kHostToDevice);
}

Literals evaluate_send(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  evaluator.process().send(op.attr<std::int64_t>("channel_id"), Literals(operands.begin(), operands.end() - 1));
  return {Literal(Type::token())};
}

Literals evaluate_recv(const Op& op, std::span<const Literal>, Evaluator& evaluator) {
  Literals out = evaluator.process().receive(op.attr<std::int64_t>("channel_id"));
  out.push_back(Literal(Type::token()));
  bool fits = static_cast<int>(out.size()) == op.num_results();
  for (int i = 0; fits && i < op.num_results(); ++i) fits = out[static_cast<std::size_t>(i)].type() == op.result(i)->type();
  if (!fits)
    throw Error("recv", "channel {} brings values of other types than the results'", op.attr<std::int64_t>("channel_id"))
        .at(op.where.text());
  return out;
}

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
      .jvp = kElsewhere,
      .linearize = kElsewhere,
      .transpose = kElsewhere,
      .batch = kOnce,
      .shard = kWhole,
      .cost = cost,
      .lowering = None{"compiled programs run as one process without channels yet"},
  };
}

}  // namespace

const OpDef& recv_def() {
  static const OpDef d =
      definition({.name = "stablehlo.recv", .infer = nullptr, .has_effect = true, .text = &ir::formats::collective, .verify = verify_recv},
                 "values from a channel (StableHLO, recv)", evaluate_recv, cost<true>);
  return d;
}
const OpDef& send_def() {
  static const OpDef d = definition({.name = "stablehlo.send", .infer = infer_send, .has_effect = true, .text = &ir::formats::collective},
                                    "gives values to a channel (StableHLO, send)", evaluate_send, cost<false>);
  return d;
}

}  // namespace strata::op
