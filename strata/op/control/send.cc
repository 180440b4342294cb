// stablehlo.send and stablehlo.recv: values through a channel.
//
// Contract (StableHLO): send(inputs..., token) and recv(token) with `channel_id`, `channel_type`,
// `is_host_transfer`, `source_target_pairs`. send gives a token; recv gives tensors and a token.
//   (C1) source_target_pairs are pairs; (C2) their sources and (C3) their targets are unique, (C4)
//   not negative (beyond that it is for the grid to know); (C5) channel_type is DEVICE_TO_DEVICE
//   (1) unless is_host_transfer, which is DEVICE_TO_HOST (2) of a send and HOST_TO_DEVICE (3) of a
//   recv.
// Both are effects. By reference a channel keeps what was sent in order; recv waits for it
// (op/collective/world.h).
#include "strata/ir/text/format.h"
#include "strata/op/collective/collective.h"
#include "strata/op/control/token_io.h"

namespace strata::op {
namespace {

constexpr None kElsewhere{"what happens at the channel's other end is not known here"};
constexpr None kWhole{"channels carry whole arrays"};
constexpr None kNoChannels{"compiled programs run as one process without channels yet"};

constexpr std::int64_t kDeviceToDevice = 1, kDeviceToHost = 2, kHostToDevice = 3;

void expect_channel(const char* op, const Attrs& attrs, std::int64_t host_type) {
  expect_attr<std::int64_t>(op, attrs, "channel_id");
  std::int64_t type = expect_attr<std::int64_t>(op, attrs, "channel_type");
  bool host = attrs.get_or<bool>("is_host_transfer", false);
  if (type != (host ? host_type : kDeviceToDevice))
    throw Error(op, "channel type {} does not go with is_host_transfer = {} (C5)", type, host);
  collective::expect_pairs(op, attrs);
}

std::vector<Type> infer_send(std::span<Value* const> operands, const Attrs& attrs,
                             std::span<const std::unique_ptr<Block>>) {
  std::vector<Type> results = token_io::infer_giving("send", operands);
  expect_channel("send", attrs, kDeviceToHost);
  return results;
}

void verify_recv(const Op& op) {
  token_io::verify_bringing("recv", op, {});
  expect_channel("recv", op.attrs, kHostToDevice);
}

Literals evaluate_send(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  evaluator.process().send(op.attr<std::int64_t>("channel_id"),
                           Literals(operands.begin(), operands.end() - 1));
  return {Literal(Type::token())};
}

Literals evaluate_recv(const Op& op, std::span<const Literal>, Evaluator& evaluator) {
  auto channel = op.attr<std::int64_t>("channel_id");
  return token_io::brought(
      "recv", op, evaluator.process().receive(channel),
      fmt::format("channel {} brings values of other types than the results'", channel));
}

}  // namespace

const OpDef& recv_def() {
  static const OpDef d = token_io::definition({.info = {.name = "stablehlo.recv",
                                                        .infer = nullptr,
                                                        .text = &ir::formats::collective,
                                                        .verify = verify_recv},
                                               .summary = "values from a channel (StableHLO, recv)",
                                               .side = token_io::Side::brings,
                                               .by_reference = evaluate_recv,
                                               .no_derivative = kElsewhere,
                                               .no_sharding = kWhole,
                                               .no_code = kNoChannels});
  return d;
}
const OpDef& send_def() {
  static const OpDef d = token_io::definition(
      {.info = {.name = "stablehlo.send", .infer = infer_send, .text = &ir::formats::collective},
       .summary = "gives values to a channel (StableHLO, send)",
       .side = token_io::Side::gives,
       .by_reference = evaluate_send,
       .no_derivative = kElsewhere,
       .no_sharding = kWhole,
       .no_code = kNoChannels});
  return d;
}

}  // namespace strata::op
