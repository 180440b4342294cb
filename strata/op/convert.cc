// convert: each element as another dtype. Floats truncate and saturate to integers (NaN gives 0),
// integers wrap, to i1 is "not zero". Conversions to and from bf16 and f16 go through f32; to
// narrower floats they round once.
//
// Contract (spec: convert): (C1) the result has the operand's shape.
#include "strata/op/elementwise.h"
#include "strata/op/legalize.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  expect_operands("convert", op.operands, 1);
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  expect_kind("convert", in.dtype(), kAny);
  expect_kind("convert", out.dtype(), kAny);
  if (!may_equal(in.shape(), out.shape()))
    throw Error("convert", "(C1) result {} has another shape than the operand {}", out.to_string(),
                in.to_string());
}

template <class From, class To>
void convert_all(std::span<const From> xs, std::span<To> ys) {
  for (std::size_t i = 0; i < xs.size(); ++i)
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
  DType to = op.result()->dtype();
  return c.b.convert(to, c.b.convert(compute_type(to), widened(c.b, c.operand(op, 0, index))));
}

/// An f64 as an f32 with a last bit that remembers what was cut off, so that rounding it further
/// rounds once.
Value* rounded_to_odd(Builder& b, Value* x) {
  Value* y = convert(b, x, DType::f32);
  Value* back = convert(b, y, DType::f64);
  Value* bits = bitcast_convert(b, y, DType::ui32);
  Value* one = full_like(b, bits, 1);
  bits = select(b, compare(b, abs(b, back), abs(b, x), "GT"), sub(b, bits, one), bits);
  bits = select(b, compare(b, back, x, "NE"), or_(b, bits, one), bits);
  return bitcast_convert(b, bits, DType::f32);
}

/// A number of a legal type as the part of a float below 16 bits: rounded once.
Value* to_minifloat(Builder& b, Value* x, DType format) {
  DType from = x->dtype();
  if (!is_float(from) && bit_width(from) >= 32) x = convert(b, x, DType::f64);
  return encode_float(
      b, x->dtype() == DType::f64 ? rounded_to_odd(b, x) : convert(b, x, DType::f32), format);
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

/// Complex to real drops the imaginary part; to i1 it is "not zero".
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  DType from = op.operand(0)->dtype(), to = op.result()->dtype();
  if (from == to) return {operands[0]};
  if (is_complex(from) && is_bool(to))
    return {{or_(b, convert(b, operands[0][0], to), convert(b, operands[0][1], to))}};
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
      .lowering = Elemental{element},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
