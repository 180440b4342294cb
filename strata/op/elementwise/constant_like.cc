// constant_like: the scalar of the attribute `value`, in the shape of the operand, whose elements
// do not matter.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("constant_like", operands, 1);
  const Literal& value = expect_attr<Literal>("constant_like", attrs, "value");
  if (value.type().rank() != 0)
    throw Error("constant_like", "value must be a scalar, got {}", value.type().to_string());
  return {operands[0]->type().with(value.dtype())};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& value = op.attr<Literal>("value");
  return {moved(value, op.result()->type().with(operands[0].shape()),
                [](std::span<const std::int64_t>) { return 0; })};
}

/// The shape is static by the time that this is asked.
Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value* value = constant(b, op.attr<Literal>("value"));
  return {operands[0]->rank() == 0 ? value : broadcast_in_dim(b, value, operands[0]->shape(), {})};
}

/// The parts of the scalar are one after another in its memory.
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  const Literal& value = op.attr<Literal>("value");
  const Shape& shape = operands[0][0]->shape();
  Parts out;
  std::size_t at = 0;
  for (const Type& type : part_types(value.type())) {
    Literal part(type);
    std::memcpy(part.mutable_data(), value.data() + at, byte_width(type.dtype()));
    at += byte_width(type.dtype());
    Value* scalar = constant(b, part);
    out.push_back(shape.rank() == 0 ? scalar : broadcast_in_dim(b, scalar, shape, {}));
  }
  return {out};
}

}  // namespace

const OpDef& constant_like_def() {
  static const OpDef def{
      .info = {.name = "chlo.constant_like", .infer = infer, .text = &ir::formats::constant_like},
      .summary = "a scalar known when the program is built, in the shape of the operand",
      .traits = {.cheap = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"constant: never depends on a tangent"},
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = None{"a constant and a broadcast"},
      .decompose = decompose,
      .split = split,
  };
  return def;
}

}  // namespace strata::op
