// convert: each element as another dtype. Floats truncate and saturate to integers (NaN gives 0),
// integers wrap, to i1 is "not zero". Floats round once to whatever type; integers go to those
// below 32 bits through f32, as ml_dtypes and XLA have it. Complex numbers become anything else by
// their real part.
//
// Contract (spec: convert): (C1) the result has the operand's shape.
#include "strata/op/elementwise/elementwise.h"
#include "strata/op/legalize.h"
#include "strata/type/minifloat.h"
#include "strata/type/round_to_odd.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  expect_operands("convert", op.operands, 1);
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  expect_kind("convert", in.dtype(), kAny);
  expect_kind("convert", out.dtype(), kAny);
  if (!may_equal(in.shape(), out.shape()))
    throw Error("convert", "result {} has another shape than the operand {} (C1)", out.to_string(),
                in.to_string());
}

template <class From, class To>
void convert_all(std::span<const From> xs, std::span<To> ys) {
  for (std::size_t i = 0; i < xs.size(); ++i)
    if constexpr (std::is_same_v<From, double> && !std::is_same_v<To, Compute<To>>)
      ys[i] = To(rounded_to_odd(xs[i]));
    else
      ys[i] = static_cast<To>(numbers::convert<Compute<To>>(static_cast<Compute<From>>(xs[i])));
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  Literal out(op.result()->type().with(x.shape()));
  dispatch(x.dtype(), [&]<class From>(From) {
    dispatch(out.dtype(), [&]<class To>(To) {
      if constexpr (kind_of_type<From>() != 0 && kind_of_type<To>() != 0)
        convert_all<From, To>(x.span<From>(), out.mutable_span<To>());
    });
  });
  return {std::move(out)};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* y = again(b, op, operands).result();
  bool smooth = tangents[0] && is_inexact(y->dtype());
  return {{y}, {smooth ? convert(b, tangents[0], y->dtype()) : nullptr}};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  return {ct[0] ? convert(b, ct[0], op.operand(0)->dtype()) : nullptr};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  return c.b.convert(op.result()->dtype(), c.operand(op, 0, index));
}

/// type/round_to_odd.h on arrays.
Value* odd(Builder& b, Value* x) {
  Value* y = convert(b, x, DType::f32);
  Value* back = convert(b, y, DType::f64);
  Value* bits = bitcast_convert(b, y, DType::ui32);
  Value* one = full_like(b, bits, 1);
  bits = select(b, compare(b, abs(b, back), abs(b, x), "GT"), sub(b, bits, one), bits);
  bits = select(b, compare(b, back, x, "NE"), or_(b, bits, one), bits);
  return bitcast_convert(b, bits, DType::f32);
}

/// A number of a legal type as the part of a float below 16 bits: floats rounded once. Powers of
/// two have no zero, and so take that of f32.
Value* to_minifloat(Builder& b, Value* x, DType format) {
  Value* single = convert(b, x, DType::f32);
  if (x->dtype() != DType::f64) return encode_float(b, single, format);
  Value* cut = odd(b, x);
  if (!minifloat(format).has_sign)
    cut = select(b, compare(b, single, zeros_like(b, single), "EQ"), single, cut);
  return encode_float(b, cut, format);
}

/// A number of a legal type as the part of i2 .. ui4: floats saturate, integers wrap.
Value* to_narrow_integer(Builder& b, Value* x, DType dtype) {
  Value* wide = convert(b, x, wide_type(dtype));
  if (!is_float(x->dtype())) return encode(b, wide, dtype);
  double high = std::ldexp(1.0, bit_width(dtype) - (is_signed(dtype) ? 1 : 0));
  return clamp(b, scalar(b, wide->dtype(), is_signed(dtype) ? -high : 0), wide,
               scalar(b, wide->dtype(), high - 1));
}

Value* from_number(Builder& b, Value* x, DType to) {
  if (is_legal(to)) return convert(b, x, to);
  return is_float(to) ? to_minifloat(b, x, to) : to_narrow_integer(b, x, to);
}

std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  DType from = op.operand(0)->dtype(), to = op.result()->dtype();
  if (from == to) return {operands[0]};
  if (is_complex(from) && is_complex(to))
    return {{convert(b, operands[0][0], real_part(to)), convert(b, operands[0][1], real_part(to))}};
  Value* number = decode(b, operands[0][0], from);
  if (!is_complex(to)) return {{from_number(b, number, to)}};
  Value* re = convert(b, number, real_part(to));
  return {{re, zeros_like(b, re)}};
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
      .lowering = Elementwise{element},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
