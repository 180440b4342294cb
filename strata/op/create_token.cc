// stablehlo.create_token: a token that comes after nothing, a deprecated spelling of after_all without operands.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kToken{"a token carries no numbers"};

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&, std::span<const std::unique_ptr<Block>>) {
  if (!operands.empty()) throw Error("create_token", "takes no operands, got {}", operands.size());
  return {Type::token()};
}

Values decompose(Builder& b, const Op&, std::span<Value* const>) { return b.create("stablehlo.after_all", {}).results(); }
Work cost(const Op&) { return {}; }

}  // namespace

const OpDef& create_token_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.create_token", .infer = infer, .text = &ir::formats::typed_result},
      .summary = "a token that comes after nothing (StableHLO, create_token; deprecated)",
      .traits = {},
      .evaluate = evaluate_decomposed,
      .jvp = kToken,
      .linearize = kToken,
      .transpose = kToken,
      .batch = kToken,
      .shard = kToken,
      .cost = cost,
      .lowering = None{"an after_all (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
