// stablehlo.infeed and stablehlo.outfeed: values from the host and to it.
//
// Contract (StableHLO): infeed(token) {infeed_config, layout}: results are what the host gave and a
// token;
//   (C1) there is a result; (C2) all but the last are tensors; (C3) the last is a token.
// outfeed(inputs..., token) {outfeed_config}: (I1) inputs are tensors; (I2) the last operand is a
// token; the result is a token. Both are effects. By reference, infeed takes the first of
// World::infeed and outfeed adds to World::outfeed (op/collective/world.h).
#include "strata/op/collective/world.h"
#include "strata/op/control/token_io.h"

namespace strata::op {
namespace {

constexpr None kHost{"the host's values have no derivative"};
constexpr None kWhole{"the host gives and takes whole arrays"};
constexpr None kNoHost{"compiled programs have no host to talk to yet"};

void verify_infeed(const Op& op) {
  token_io::verify_bringing("infeed", op, {.some = " (C1)", .tensors = " (C2)", .token = " (C3)"});
}

std::vector<Type> infer_outfeed(std::span<Value* const> operands, const Attrs&,
                                std::span<const std::unique_ptr<Block>>) {
  return token_io::infer_giving("outfeed", operands);
}

Literals evaluate_infeed(const Op& op, std::span<const Literal>, Evaluator& evaluator) {
  std::deque<Literals>& queue = evaluator.process().world().infeed;
  if (queue.empty()) throw Error("infeed", "the infeed is empty").at(op.where.text());
  Literals values = std::move(queue.front());
  queue.pop_front();
  return token_io::brought("infeed", op, std::move(values),
                           "the host gave values of other types than the results'");
}

Literals evaluate_outfeed(const Op&, std::span<const Literal> operands, Evaluator& evaluator) {
  evaluator.process().world().outfeed.emplace_back(operands.begin(), operands.end() - 1);
  return {Literal(Type::token())};
}

}  // namespace

const OpDef& infeed_def() {
  static const OpDef d = token_io::definition(
      {.info = {.name = "stablehlo.infeed", .infer = nullptr, .verify = verify_infeed},
       .summary = "the host's next values (StableHLO, infeed)",
       .side = token_io::Side::brings,
       .by_reference = evaluate_infeed,
       .no_derivative = kHost,
       .no_sharding = kWhole,
       .no_code = kNoHost});
  return d;
}
const OpDef& outfeed_def() {
  static const OpDef d =
      token_io::definition({.info = {.name = "stablehlo.outfeed", .infer = infer_outfeed},
                            .summary = "gives values to the host (StableHLO, outfeed)",
                            .side = token_io::Side::gives,
                            .by_reference = evaluate_outfeed,
                            .no_derivative = kHost,
                            .no_sharding = kWhole,
                            .no_code = kNoHost});
  return d;
}

}  // namespace strata::op
