// clamp: min(max(operand, low), high).
//
// Contract (spec: clamp): operands (low, operand, high). (C1) low and (C2) high are scalars or have
// the operand's shape; (C3) all have one element type; (C4) the result has the operand's type.
#include "strata/ir/constraint.h"
#include "strata/op/elementwise/complex/functions.h"
#include "strata/op/elementwise/elementwise.h"
#include "strata/op/quantized/quantized.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("clamp", operands, 3);
  const Type& x = operands[1]->type();
  expect_kind("clamp", x.dtype(), kAny);
  for (int i : {0, 2}) {
    const Type& bound = operands[static_cast<std::size_t>(i)]->type();
    if (bound.rank() != 0 && !may_equal(bound.shape(), x.shape()))
      throw Error("clamp", "a bound {} must be a scalar or have the shape of {} ({})",
                  bound.to_string(), x.to_string(), i == 0 ? "C1" : "C2");
    if (bound.dtype() != x.dtype())
      throw Error("clamp", "the bounds' dtype differs from the operand's, got {} and {} (C3)",
                  bound.to_string(), x.to_string());
  }
  return {x};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  dispatch(out.dtype(), [&]<class T>(T) {
    if constexpr (kind_of_type<T>() != 0) {
      using C = Compute<T>;
      auto lows = operands[0].span<T>(), xs = operands[1].span<T>(), highs = operands[2].span<T>();
      auto ys = out.mutable_span<T>();
      for (std::size_t i = 0; i < ys.size(); ++i) {
        C low = static_cast<C>(lows[operands[0].type().rank() == 0 ? 0 : i]),
          high = static_cast<C>(highs[operands[2].type().rank() == 0 ? 0 : i]);
        ys[i] = static_cast<T>(numbers::min(numbers::max(static_cast<C>(xs[i]), low), high));
      }
    }
  });
  return {std::move(out)};
}

/// A bound in the operand's shape.
Value* full_bound(Builder& b, Value* bound, Value* x) { return broadcast_to(b, bound, x->shape()); }

/// The operand's tangent strictly between the bounds, a bound's where it holds the operand, else
/// zero.
JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* x = operands[1];
  Value* y = again(b, op, operands).result();
  if (all_null(tangents)) return {{y}, {nullptr}};
  Value *low = full_bound(b, operands[0], x), *high = full_bound(b, operands[2], x),
        *zero = zeros_like(b, x);
  Value *above = compare(b, x, low, "GT"), *below = compare(b, x, high, "LT");
  Value* sum = nullptr;
  auto add_where = [&](Value* pred, Value* tangent) {
    if (tangent) sum = add_or_null(b, sum, select(b, pred, full_bound(b, tangent, x), zero));
  };
  add_where(and_(b, compare(b, low, x, "GT"), compare(b, low, high, "LT")), tangents[0]);
  add_where(and_(b, above, below), tangents[1]);
  add_where(compare(b, high, max(b, x, low), "LT"), tangents[2]);
  return {{y}, {sum}};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  Value* x = batched_operand(b, operands[1], batched[1], size);
  auto bound = [&](std::size_t i) {
    bool is_scalar = op.operands[i]->rank() == 0;
    if (is_scalar && !batched[i]) return operands[i];
    if (is_scalar) return broadcast_in_dim(b, operands[i], x->shape(), {0});
    return batched_operand(b, operands[i], batched[i], size);
  };
  Value *low = bound(0), *high = bound(2);
  return {{clamp(b, low, x, high)}, {true}};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  auto read = [&](int i) {
    return widened(
        c.b, c.operand(op, i, op.operand(i)->rank() == 0 ? std::span<const loop::Index>() : index));
  };
  loop::Inst* low = read(0);
  loop::Inst* high = read(2);
  loop::Inst* raised = c.b.binary(loop::Opcode::max, read(1), low);
  return c.b.convert(op.result()->dtype(), c.b.binary(loop::Opcode::min, raised, high));
}

/// Complex numbers, in the order of (re, im).
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (!is_complex(op.operand(0)->dtype())) return {};
  auto number = [&](int i) {
    Parts parts;
    for (Value* v : operands[static_cast<std::size_t>(i)])
      parts.push_back(full_bound(b, v, operands[1][0]));
    return complex_rules::Complex{{&b, parts[0]}, {&b, parts[1]}};
  };
  complex_rules::Complex z =
      complex_rules::minimum(complex_rules::maximum(number(1), number(0)), number(2));
  return {{z.re.v, z.im.v}};
}

Work cost(const Op& op) { return {2 * elements(op), bytes_moved(op)}; }

}  // namespace

const OpDef& clamp_def() {
  static const OpDef def{
      .info = ir::inferred_by("C4",
                              {.name = "stablehlo.clamp",
                               .infer = infer,
                               .text = &ir::formats::elementwise,
                               .quantized = quantized::baseline},
                              "C3"),
      .summary = "forces elements between two bounds (spec: clamp)",
      .traits = {.elementwise = true, .cheap = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = kNotLinear,
      .batch = batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = Elementwise{element},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
