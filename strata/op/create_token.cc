// create_token: a token, which orders effects. The deprecated spelling of after_all without operands.
//
// Contract (StableHLO, create_token): no operands; the result is a token.
//
// A token says nothing but an order, which programs here keep anyway: operations with effects run in the order in which they
// stand. Machine code carries none: there a token is an array of no elements (compile/pipeline.cc).
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kToken{"a token carries no numbers"};

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&, std::span<const std::unique_ptr<Block>>) {
  expect_operands("create_token", operands, 0);
  return {Type::token()};
}

Literals evaluate(const Op&, std::span<const Literal>, Evaluator&) { return {Literal(Type::token())}; }
Work cost(const Op&) { return {}; }

Values decompose(Builder& b, const Op&, std::span<Value* const>) { return {zeros(b, Type(DType::ui8, {0}))}; }

}  // namespace

const OpDef& create_token_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.create_token", .infer = infer, .text = &ir::formats::typed_result},
      .summary = "a token (StableHLO, create_token)",
      .traits = {.moves_only = true},
      .evaluate = evaluate,
      .jvp = kToken,
      .linearize = kToken,
      .transpose = kToken,
      .batch = kToken,
      .shard = kToken,
      .cost = cost,
      .lowering = None{"machine code has no tokens"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
