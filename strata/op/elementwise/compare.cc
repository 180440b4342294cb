// compare: EQ NE GE GT LE LT of each pair of elements.
//
// Contract (spec: compare): operands of (C1) one element type and (C2) one shape, which the result
// has; (I3) a direction; (C3) a compare_type that fits the element type. compare_type TOTALORDER
// orders floats as IEEE's totalOrder
// (-NaN < -inf < ... < -0 < +0 < ... < NaN); otherwise a NaN is unequal to and unordered with
// everything.
#include "strata/ir/constraint.h"
#include "strata/op/elementwise/elementwise.h"
#include "strata/op/elementwise/ordered_bits.h"
#include "strata/op/quantized/quantized.h"

namespace strata::op {
namespace {

bool is_total(const Attrs& attrs) {
  return attrs.get_or<std::string>("compare_type", "") == "TOTALORDER";
}

loop::Compare direction(const Attrs& attrs) {
  const std::string& text = expect_attr<std::string>("compare", attrs, "comparison_direction");
  if (text == "EQ") return loop::Compare::eq;
  if (text == "NE") return loop::Compare::ne;
  if (text == "GE") return loop::Compare::ge;
  if (text == "GT") return loop::Compare::gt;
  if (text == "LE") return loop::Compare::le;
  if (text == "LT") return loop::Compare::lt;
  throw Error("compare", "comparison_direction {} is none of EQ NE GE GT LE LT (I3)", text);
}

bool type_fits(const std::string& compare_type, DType dtype) {
  if (compare_type == "FLOAT" || compare_type == "TOTALORDER") return is_inexact(dtype);
  if (compare_type == "SIGNED") return is_signed(dtype);
  if (compare_type == "UNSIGNED") return is_unsigned(dtype) || is_bool(dtype);
  return compare_type.empty() || compare_type == "NOTYPE";
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("compare", operands, 2);
  const Type &x = operands[0]->type(), &y = operands[1]->type();
  expect_kind("compare", x.dtype(), kAny);
  if (x.dtype() != y.dtype())
    throw Error("compare", "operands must have one element type, got {} and {} (C1)", x.to_string(),
                y.to_string());
  if (!may_equal(x.shape(), y.shape()))
    throw Error("compare", "operands must have one shape, got {} and {} (C2)", x.to_string(),
                y.to_string());
  direction(attrs);
  std::string compare_type = attrs.get_or<std::string>("compare_type", "");
  if (!type_fits(compare_type, x.dtype()))
    throw Error("compare", "compare_type {} does not fit {} (C3)", compare_type, x.to_string());
  return {x.with(DType::i1).with(merged(x.shape(), y.shape()))};
}

template <class T>
bool holds(loop::Compare c, T x, T y) {
  switch (c) {
    case loop::Compare::eq: return x == y;
    case loop::Compare::ne: return x != y;
    case loop::Compare::lt: return x < y;
    case loop::Compare::le: return x <= y;
    case loop::Compare::gt: return x > y;
    case loop::Compare::ge: return x >= y;
  }
  STRATA_UNREACHABLE("comparison {}", static_cast<int>(c));
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type().with(operands[0].shape()));
  loop::Compare c = direction(op.attrs);
  dispatch(operands[0].dtype(), [&]<class T>(T) {
    if constexpr (kind_of_type<T>() != 0) {
      auto xs = operands[0].span<T>(), ys = operands[1].span<T>();
      auto zs = out.mutable_span<bool>();
      for (std::size_t i = 0; i < xs.size(); ++i) {
        Compute<T> x = static_cast<Compute<T>>(xs[i]), y = static_cast<Compute<T>>(ys[i]);
        if constexpr (kind_of_type<T>() == kFloat) {
          if (is_total(op.attrs)) {
            zs[i] = holds(c, numbers::total_order(x), numbers::total_order(y));
            continue;
          }
        }
        zs[i] = holds(c, x, y);
      }
    }
  });
  return {std::move(out)};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  loop::Inst *x = c.operand(op, 0, index), *y = c.operand(op, 1, index);
  if (is_total(op.attrs))
    return c.b.compare(direction(op.attrs), ordered_bits(c.b, x), ordered_bits(c.b, y));
  return c.b.compare(direction(op.attrs), widened(c.b, x), widened(c.b, y));
}

Work cost(const Op& op) { return {elements(op), bytes_moved(op)}; }

/// Complex numbers in the order of (re, im).
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (!is_complex(op.operand(0)->dtype())) return {};
  auto part = [&](std::size_t p, const std::string& how) {
    Attrs attrs = op.attrs;
    attrs.set("comparison_direction", how);
    return b.create(op.info(), {operands[0][p], operands[1][p]}, std::move(attrs)).result();
  };
  const std::string& how = op.attr<std::string>("comparison_direction");
  if (how == "EQ") return {{and_(b, part(0, "EQ"), part(1, "EQ"))}};
  if (how == "NE") return {{or_(b, part(0, "NE"), part(1, "NE"))}};
  return {{or_(b, part(0, how.substr(0, 1) + "T"), and_(b, part(0, "EQ"), part(1, how)))}};
}

}  // namespace

const OpDef& compare_def() {
  static const OpDef def{
      .info = ir::inferred_by("C2",
                              {.name = "stablehlo.compare",
                               .infer = infer,
                               .text = &ir::formats::compare,
                               .quantized = quantized::baseline},
                              "C1"),
      .summary = "compares elements (spec: compare)",
      .traits = {.elementwise = true, .cheap = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"the result is no number"},
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = Elementwise{element},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
