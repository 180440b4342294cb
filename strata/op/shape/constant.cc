// constant: the array that stands in the attribute `value`, (C1) whose type the result has (spec:
// constant).
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

const Literal& value_of(const Op& op) { return op.attr<Literal>("value"); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("constant", operands, 0);
  return {expect_attr<Literal>("constant", attrs, "value").type()};
}

Literals evaluate(const Op& op, std::span<const Literal>, Evaluator&) { return {value_of(op)}; }

std::uint64_t bits_of(const Literal& value, std::int64_t i) {
  std::uint64_t bits = 0;
  std::size_t width = byte_width(value.dtype());
  STRATA_CHECK(width <= sizeof bits, "element of {} in one instruction", name(value.dtype()));
  std::memcpy(&bits, value.element(i), width);
  return bits;
}

/// A splat is one constant. Other arrays become a chain of choices, which only suits a handful of
/// elements: the compiler passes larger ones as buffers and never asks for their elements here.
loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  const Literal& value = value_of(op);
  if (value.count() == 0) return c.b.constant_bits(value.dtype(), 0);
  loop::Inst* chosen = c.b.constant_bits(value.dtype(), bits_of(value, 0));
  if (value.is_splat()) return chosen;
  loop::Inst* at = c.b.value(linearized(index, value.shape().sizes()));
  for (std::int64_t i = 1; i < value.count(); ++i) {
    loop::Inst* here = c.b.compare(loop::Compare::eq, at, c.b.constant_int(DType::i64, i));
    chosen = c.b.select(here, c.b.constant_bits(value.dtype(), bits_of(value, i)), chosen);
  }
  return chosen;
}

/// The literal's elements as they are in memory; of complex numbers each part.
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts>) {
  const Literal& value = value_of(op);
  std::vector<Type> types = part_types(value.type());
  if (types.size() == 1)
    return {{constant(b, value.is_splat() ? Literal::splat(types[0], value.element(0))
                                          : Literal(types[0], value.storage()))}};
  std::size_t width = byte_width(types[0].dtype());
  Parts out;
  for (std::size_t p = 0; p < 2; ++p) {
    if (value.is_splat()) {
      out.push_back(constant(b, Literal::splat(types[p], value.element(0) + p * width)));
      continue;
    }
    Literal part(types[p]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(part.count()); ++i)
      std::memcpy(part.mutable_data() + i * width, value.data() + (2 * i + p) * width, width);
    out.push_back(constant(b, part));
  }
  return {out};
}

}  // namespace

const OpDef& constant_def() {
  static const OpDef def{
      .info = ir::inferred_by("C1", {.name = "stablehlo.constant",
                                     .infer = infer,
                                     .text = &ir::formats::constant,
                                     .quantized = quantized::reinterpreted}),
      .summary = "an array known when the program is built (spec: constant)",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"no operands"},
      .batch = constant_batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = Elementwise{element},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
