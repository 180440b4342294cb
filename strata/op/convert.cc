// convert: each element as another dtype. Floats truncate and saturate to integers (NaN gives 0), integers wrap, to
// i1 is "not zero". Conversions to and from bf16 and f16 go through f32.
#include "strata/op/elementwise.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  expect_operands("convert", op.operands, 1);
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  expect_kind("convert", in.dtype(), kAny);
  expect_kind("convert", out.dtype(), kAny);
  if (!may_equal(in.shape(), out.shape()))  // convert_c1
    throw Error("convert", "result {} has another shape than the operand {}", out.to_string(), in.to_string());
}

template <class From, class To>
void convert_all(std::span<const From> xs, std::span<To> ys) {
  for (std::size_t i = 0; i < xs.size(); ++i) ys[i] = static_cast<To>(numbers::convert<Compute<To>>(static_cast<Compute<From>>(xs[i])));
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  Literal out(op.result()->type().with(x.shape()));
  dispatch(x.dtype(), [&]<class From>(From) {
    dispatch(out.dtype(), [&]<class To>(To) {
      if constexpr (kind_of_type<From>() != 0 && kind_of_type<To>() != 0) convert_all<From, To>(x.span<From>(), out.mutable_span<To>());
    });
  });
  return {std::move(out)};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands, std::span<Value* const> tangents) {
  Value* y = again(b, op, operands).result();
  bool smooth = tangents[0] && is_inexact(y->dtype());
  return {{y}, {smooth ? convert(b, tangents[0], y->dtype()) : nullptr}};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&, std::span<Value* const> ct) {
  return {ct[0] ? convert(b, ct[0], op.operand(0)->dtype()) : nullptr};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  DType to = op.result()->dtype();
  return c.b.convert(to, c.b.convert(compute_type(to), widened(c.b, c.operand(op, 0, index))));
}

Work cost(const Op& op) { return {elements(op), bytes_moved(op)}; }

}  // namespace

const OpDef& convert_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.convert", .text = &ir::formats::elementwise, .verify = verify},
      .summary = "elements as another dtype (spec: convert)",
      .traits = {.elementwise = true, .cheap = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = Elemental{element},
  };
  return def;
}

}  // namespace strata::op
