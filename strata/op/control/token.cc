// stablehlo.after_all: a token that comes after its tokens; stablehlo.create_token, deprecated: one
// that comes after none.
//
// Contract (StableHLO, after_all): (I1) any number of tokens; the result is a token. create_token
// has no operands.
//
// A token says nothing but an order, which programs here keep anyway: operations with effects run
// in the order in which they stand. In machine code it is an array of no elements
// (compile/pipeline.cc).
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kToken{"a token carries no numbers"};

using Regions = std::span<const std::unique_ptr<Block>>;

std::vector<Type> infer_after_all(std::span<Value* const> operands, const Attrs&, Regions) {
  for (const Value* v : operands)
    if (!v->type().is_token())
      throw Error("after_all", "operands must be tokens, got {} (I1)", v->type().to_string());
  return {Type::token()};
}

std::vector<Type> infer_create(std::span<Value* const> operands, const Attrs&, Regions) {
  expect_operands("create_token", operands, 0);
  return {Type::token()};
}

Literals evaluate(const Op&, std::span<const Literal>, Evaluator&) {
  return {Literal(Type::token())};
}
Work cost(const Op&) { return {}; }

Values decompose(Builder& b, const Op&, std::span<Value* const>) {
  return {zeros(b, Type(DType::ui8, {0}))};
}

OpDef token(ir::OpInfo info, const char* summary) {
  return {
      .info = std::move(info),
      .summary = summary,
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
}

}  // namespace

const OpDef& after_all_def() {
  static const OpDef d = token(
      {.name = "stablehlo.after_all", .infer = infer_after_all, .text = &ir::formats::elementwise},
      "a token that comes after its tokens (StableHLO, after_all)");
  return d;
}
const OpDef& create_token_def() {
  static const OpDef d = token(
      {.name = "stablehlo.create_token", .infer = infer_create, .text = &ir::formats::typed_result},
      "a token (StableHLO, create_token)");
  return d;
}

}  // namespace strata::op
