// rng: random numbers of a distribution.
//
// Contract (spec: rng): scalars a, b of one type; `shape`, a constant of rank 1 that names the
// result's sizes; attribute `rng_distribution`, UNIFORM or NORMAL.
//   (C1) a, b and the result have one element type; (C2) NORMAL takes floats; (C3) the result has
//   that shape.
// UNIFORM is in [a, b); NORMAL has the mean a and the standard deviation b.
//
// Which numbers come is the implementation's choice. Here each call is a generator of its own,
// started from a fixed key, so that a program gives the same numbers on every run, compiled or not;
// programs that want others carry a state (rng_bit_generator). The numbers are XLA's formulas on
// its bits: floats from as many bits as the mantissa has, normal ones by Box and Muller.
#include <cmath>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

bool is_normal(const Attrs& attrs) {
  return attrs.get<std::string>("rng_distribution") == "NORMAL";
}

void verify(const Op& op) {
  const char* self = "rng";
  expect_operands(self, op.operands, 3);
  const auto& distribution = expect_attr<std::string>(self, op.attrs, "rng_distribution");
  if (distribution != "UNIFORM" && distribution != "NORMAL")
    throw Error(self, "there is no distribution {} (I4)", distribution);
  const Type &a = op.operand(0)->type(), &b = op.operand(1)->type(), &shape = op.operand(2)->type();
  if (a.rank() != 0 || b.rank() != 0)
    throw Error(self, "a and b must be scalars, got {} and {} (I1, I2)", a.to_string(),
                b.to_string());
  if (shape.rank() != 1 || !is_integer(shape.dtype()))
    throw Error(self, "the shape must be integers of rank 1, got {} (I3)", shape.to_string());
  const Type& out = op.result()->type();
  if (a.dtype() != b.dtype() || !out.is_tensor() || out.dtype() != a.dtype())
    throw Error(self, "a, b and the result must have one element type, got {}, {} and {} (C1)",
                a.to_string(), b.to_string(), out.to_string());
  if (is_complex(a.dtype()))
    throw Error(self, "takes booleans, integers and floats, got {} (I1)", a.to_string());
  if (is_normal(op.attrs) && !is_float(a.dtype()))
    throw Error(self, "NORMAL takes floats, got {} (C2)", a.to_string());
  if (!may_equal(shape.shape().dim(0), Dim(out.rank())))
    throw Error(self, "{} sizes are given for the result {} (C3)", shape.shape().to_string(),
                out.to_string());
}

/// Bits for `count` kinds of numbers of a shape, ui32 or ui64.
Value* bits_of(Builder& b, const Shape& shape, DType dtype, std::uint64_t key) {
  Value* state = constant(b, Literal::of<std::uint64_t>(Shape{2}, {key, 0}));
  Attrs attrs{{"rng_algorithm", std::string("PHILOX")}};
  return b
      .create(def("stablehlo.rng_bit_generator").info, {state}, attrs, {},
              {state->type(), Type(dtype, shape)})
      .result(1);
}

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::bf16: return 7;
    case DType::f16: return 10;
    case DType::f64: return 52;
    default: return 23;
  }
}

/// In [0, 1): as many bits as the mantissa holds.
Value* unit(Builder& b, const Shape& shape, DType dtype, std::uint64_t key) {
  int width = dtype == DType::f64 ? 64 : 32, mantissa = mantissa_bits(dtype);
  Value* bits = bits_of(b, shape, width == 64 ? DType::ui64 : DType::ui32, key);
  bits = shift_right_logical(b, bits, full_like(b, bits, width - mantissa));
  Value* whole = convert(b, bits, dtype);
  return mul(b, whole, full_like(b, whole, std::ldexp(1.0, -mantissa)));
}

Value* spread(Builder& b, Value* scalar, const Shape& shape) {
  return broadcast_in_dim(b, scalar, shape, {});
}

Value* uniform_integers(Builder& b, Value* low, Value* high, const Shape& shape) {
  DType dtype = low->dtype();
  if (is_bool(dtype)) return spread(b, low, shape);  // [false, true)
  DType wide = is_signed(dtype) ? DType::i64 : DType::ui64;
  Value* from = convert(b, low, wide);
  Value* range = bitcast_convert(b, sub(b, convert(b, high, wide), from), DType::ui64);
  Value* at = rem(b, bits_of(b, shape, DType::ui64, 0x9E3779B97F4A7C15), spread(b, range, shape));
  return convert(b, add(b, spread(b, from, shape), bitcast_convert(b, at, wide)), dtype);
}

Value* uniform_floats(Builder& b, Value* low, Value* high, const Shape& shape) {
  Value* u = unit(b, shape, low->dtype(), 0x9E3779B97F4A7C15);
  return add(b, mul(b, u, spread(b, sub(b, high, low), shape)), spread(b, low, shape));
}

Value* normal(Builder& b, Value* mean, Value* deviation, const Shape& shape) {
  DType wide = mean->dtype() == DType::f64 ? DType::f64 : DType::f32;
  constexpr double kTwoPi = 6.283185307179586;
  Value* u = unit(b, shape, wide, 0x9E3779B97F4A7C15);
  Value* angle = unit(b, shape, wide, 0xD1B54A32D192ED03);
  u = max(b, u, full_like(b, u, 1e-7));  // nothing too small for a logarithm
  Value* radius = sqrt(b, mul(b, log(b, u), full_like(b, u, -2)));
  Value* z = mul(b, cos(b, mul(b, angle, full_like(b, angle, kTwoPi))), radius);
  return add(b, mul(b, convert(b, z, mean->dtype()), spread(b, deviation, shape)),
             spread(b, mean, shape));
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  const Shape& shape = op.result()->shape();
  if (!shape.is_static())
    throw Error("rng", "the result {} is not static: refine the program",
                op.result()->type().to_string())
        .unsupported();
  if (is_normal(op.attrs)) return {normal(b, operands[0], operands[1], shape)};
  if (!is_float(operands[0]->dtype()))
    return {uniform_integers(b, operands[0], operands[1], shape)};
  return {uniform_floats(b, operands[0], operands[1], shape)};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  t.operand(2, 0, t.factor('n', op.operand(2)->shape().dim(0).bound()));
  for (int d = 0; d < op.result()->rank(); ++d)
    t.result(0, d, t.factor('n', op.result()->shape().dim(d).bound()));
  return t.take();
}

Work cost(const Op& op) { return {50 * elements(op), bytes_moved(op)}; }

}  // namespace

const OpDef& rng_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.rng", .text = &ir::formats::rng, .verify = verify},
      .summary = "random numbers of a distribution (spec: rng)",
      .traits = {},
      .evaluate = evaluate_decomposed,
      .jvp = jvp_decomposed,
      .linearize = None{"no regions"},
      .transpose = None{"its derivative is expressed by other operations"},
      .batch = batch_decomposed,
      .shard = shard,
      .cost = cost,
      .lowering = None{"said by rng_bit_generator"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
