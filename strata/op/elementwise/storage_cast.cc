// strata.storage_cast: between a narrow type and the type of its stored elements (op/legalize.h):
// the same bytes.
//
// Contract: one operand; operand and result have one shape, and one of them is the storage of the
// other: i8 for i2 and i4, ui8 for ui2, ui4 and all floats below 16 bits.
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  expect_operands("storage_cast", op.operands, 1);
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  if (!(part_types(in) == std::vector<Type>{out}) && !(part_types(out) == std::vector<Type>{in}))
    throw Error("storage_cast", "{} is not stored as {}", in.to_string(), out.to_string());
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  return {Literal(op.result()->type(), operands[0].storage())};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t size) {
  return {b.create(op.info(), {operands[0]}, {}, {}, {with_leading(op.result()->type(), size)})
              .results(),
          {true}};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  return c.operand(op, 0, index);
}

std::vector<Parts> split(Builder&, const Op&, std::span<const Parts> operands) {
  return {operands[0]};
}

}  // namespace

const OpDef& storage_cast_def() {
  static const OpDef def{
      .info = {.name = "strata.storage_cast", .verify = verify},
      .summary = "a narrow type as the type of its stored elements, or back: the same bytes",
      .traits = {.elementwise = true, .cheap = true, .takes_complex = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"its tangent is zero: bits are no numbers"},
      .batch = batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = Elementwise{element},
      .split = split,
  };
  return def;
}

Value* storage_cast(Builder& b, Value* x, DType dtype) {
  if (x->dtype() == dtype) return x;
  return b.create(storage_cast_def().info, {x}, {}, {}, {x->type().with(dtype)}).result();
}

}  // namespace strata::op
