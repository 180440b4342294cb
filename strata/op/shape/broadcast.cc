// stablehlo.broadcast: new leading dimensions, a deprecated spelling of broadcast_in_dim.
//
// Contract (StableHLO, broadcast): attribute `broadcast_sizes`, none negative; the result has those
// dimensions, then the operand's.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("broadcast", operands, 1);
  std::vector<Dim> dims;
  for (std::int64_t size : expect_attr<Ints>("broadcast", attrs, "broadcast_sizes")) {
    if (size < 0) throw Error("broadcast", "broadcast_sizes has a negative entry {}", size);
    dims.emplace_back(size);
  }
  const Type& x = operands[0]->type();
  dims.insert(dims.end(), x.shape().dims().begin(), x.shape().dims().end());
  return {x.with(Shape(std::move(dims)))};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  const Ints& sizes = op.attr<Ints>("broadcast_sizes");
  std::vector<Dim> dims(sizes.begin(), sizes.end());
  Ints places;
  for (int d = 0; d < operands[0]->rank(); ++d) {
    places.push_back(static_cast<std::int64_t>(dims.size()));
    dims.push_back(operands[0]->shape().dim(d));
  }
  return {broadcast_in_dim(b, operands[0], Shape(std::move(dims)), places)};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  int added = static_cast<int>(op.attr<Ints>("broadcast_sizes").size());
  for (int d = 0; d < op.result()->rank(); ++d) {
    int f = t.factor('p', op.result()->shape().dim(d).bound());
    t.result(0, d, f);
    if (d >= added) t.operand(0, d - added, f);
  }
  return t.take();
}

}  // namespace

const OpDef& broadcast_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.broadcast",
               .infer = infer,
               .text = &ir::formats::broadcast,
               .quantized = quantized::moved},
      .summary = "new leading dimensions (StableHLO, broadcast; deprecated)",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate_decomposed,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = shard,
      .cost = move_cost,
      .lowering = None{"a broadcast_in_dim (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
