// stablehlo.partition_id, replica_id: where the process stands in the grid.
//
// Contract (StableHLO): no operands; the result is a scalar of ui32. Compiled programs run as the
// one process (0, 0).
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/collective/world.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kInteger{"an integer has no derivative"};

template <std::int64_t ProcessId::* member>
Literals evaluate(const Op&, std::span<const Literal>, Evaluator& evaluator) {
  return {Literal::scalar(static_cast<std::uint32_t>(evaluator.process().id().*member))};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands, std::span<Value* const>) {
  return {again(b, op, operands).results(), {nullptr}};
}

OpDef definition(const char* name, const char* summary, Evaluate evaluate) {
  auto infer = [self = std::string(short_name(name))](std::span<Value* const> operands,
                                                      const Attrs&,
                                                      std::span<const std::unique_ptr<Block>>) {
    expect_operands(self, operands, 0);
    return std::vector<Type>{Type::scalar(DType::ui32)};
  };
  return {
      .info = {.name = name, .infer = infer, .text = &ir::formats::typed_result},
      .summary = summary,
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = kInteger,
      .batch = constant_batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering =
          None{"compiled programs run as one process, whose id is 0, as the decomposition says"},
      .decompose = [](Builder& b, const Op&,
                      std::span<Value* const>) { return Values{scalar(b, DType::ui32, 0)}; },
  };
}

}  // namespace

const OpDef& partition_id_def() {
  static const OpDef d = definition("stablehlo.partition_id",
                                    "the process's partition in the grid (StableHLO, partition_id)",
                                    evaluate<&ProcessId::partition>);
  return d;
}
const OpDef& replica_id_def() {
  static const OpDef d = definition("stablehlo.replica_id",
                                    "the process's replica in the grid (StableHLO, replica_id)",
                                    evaluate<&ProcessId::replica>);
  return d;
}

}  // namespace strata::op
