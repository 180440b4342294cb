// stablehlo.after_all: a token that comes after its tokens.
//
// Contract (StableHLO, after_all): (I1) any number of tokens; the result is a token.
//
// In machine code a token is an array of no elements (compile/pipeline.cc): operations with effects keep their order anyway.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kToken{"a token carries no numbers"};

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&, std::span<const std::unique_ptr<Block>>) {
  for (const Value* v : operands)
    if (!v->type().is_token()) throw Error("after_all", "operands must be tokens, got {}", v->type().to_string());  // after_all_i1
  return {Type::token()};
}

Literals evaluate(const Op&, std::span<const Literal>, Evaluator&) { return {Literal(Type::token())}; }
Work cost(const Op&) { return {}; }

Values decompose(Builder& b, const Op&, std::span<Value* const>) { return {zeros(b, Type(DType::ui8, {0}))}; }

}  // namespace

const OpDef& after_all_def() {
  static const OpDef d{
      .info = {.name = "stablehlo.after_all", .infer = infer, .text = &ir::formats::elementwise},
      .summary = "a token that comes after its tokens (StableHLO, after_all)",
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
  return d;
}

}  // namespace strata::op
