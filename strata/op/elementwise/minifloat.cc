// strata.decode_float, strata.encode_float: between the bits (ui8) of floats below 16 bits and the
// numbers (f32) that they stand for. Attribute `format`: the type's name. type/minifloat.h is the
// definition; kernels say it in integer instructions.
//
// Encoding rounds once, to nearest even. Decoding a NaN gives a quiet NaN.
#include "strata/type/minifloat.h"

#include <cmath>

#include "strata/op/build.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

using loop::Compare;
using loop::Inst;
using loop::Opcode;
using Code = loop::Builder;

DType format_of(std::string_view op, const Attrs& attrs) {
  const std::string& text = expect_attr<std::string>(op, attrs, "format");
  std::optional<DType> format = parse_dtype(text);
  if (!format || !is_minifloat(*format))
    throw Error(std::string(op), "format {} is no float type of less than 16 bits", text);
  return *format;
}

template <bool decodes>
std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = decodes ? "decode_float" : "encode_float";
  expect_operands(self, operands, 1);
  format_of(self, attrs);
  DType from = decodes ? DType::ui8 : DType::f32, to = decodes ? DType::f32 : DType::ui8;
  if (operands[0]->dtype() != from)
    throw Error(self, "takes {}, got {}", name(from), operands[0]->type().to_string());
  return {operands[0]->type().with(to)};
}

Literals evaluate_decode(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type().with(operands[0].shape()));
  auto xs = operands[0].span<std::uint8_t>();
  auto ys = out.mutable_span<float>();
  for (std::size_t i = 0; i < xs.size(); ++i)
    ys[i] = minifloat_value(format_of("decode_float", op.attrs), xs[i]);
  return {std::move(out)};
}
Literals evaluate_encode(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type().with(operands[0].shape()));
  auto xs = operands[0].span<float>();
  auto ys = out.mutable_span<std::uint8_t>();
  for (std::size_t i = 0; i < xs.size(); ++i)
    ys[i] = minifloat_bits(format_of("encode_float", op.attrs), xs[i]);
  return {std::move(out)};
}

// ---- kernels -----------------------------------------------------------------------------------
// On ui32, the bits of an f32: 8 exponent bits, 23 mantissa bits.

constexpr std::uint32_t kInfinity = 0x7f800000u, kQuietNaN = 0x7fc00000u;

Inst* word(Code& b, std::uint32_t bits) { return b.constant_bits(DType::ui32, bits); }
Inst* is(Code& b, Compare c, Inst* x, std::uint32_t y) { return b.compare(c, x, word(b, y)); }
Inst* shifted_left(Code& b, Inst* x, int by) {
  return b.binary(Opcode::shl, x, word(b, static_cast<std::uint32_t>(by)));
}
Inst* shifted_right(Code& b, Inst* x, int by) {
  return b.binary(Opcode::shr, x, word(b, static_cast<std::uint32_t>(by)));
}
Inst* sum(Code& b, Inst* x, std::uint32_t y) { return b.binary(Opcode::add, x, word(b, y)); }

Inst* traced_decode_power(Code& b, Inst* bits) {
  Inst* value = b.select(is(b, Compare::eq, bits, 0), word(b, 1u << 22), shifted_left(b, bits, 23));
  return b.select(is(b, Compare::eq, bits, 0xff), word(b, kQuietNaN), value);
}

Inst* traced_decode(Code& b, const MiniFloat& f, Inst* stored) {
  Inst* bits = b.convert(DType::ui32, stored);
  if (!f.has_sign) return b.bitcast(DType::f32, traced_decode_power(b, bits));
  std::uint32_t sign_bit = 1u << f.sign_shift();
  Inst* magnitude = b.binary(Opcode::and_, bits, word(b, sign_bit - 1));
  Inst* sign =
      shifted_left(b, b.binary(Opcode::and_, bits, word(b, sign_bit)), 31 - f.sign_shift());
  Inst* normal = sum(b, shifted_left(b, magnitude, 23 - f.mantissa_bits),
                     static_cast<std::uint32_t>(127 - f.bias) << 23);
  Inst* unit = b.constant(DType::f32, std::ldexp(1.0, 1 - f.bias - f.mantissa_bits));
  Inst* subnormal =
      b.bitcast(DType::ui32, b.binary(Opcode::mul, b.convert(DType::f32, magnitude), unit));
  Inst* value = b.select(is(b, Compare::lt, magnitude, 1u << f.mantissa_bits), subnormal, normal);
  if (f.top == MiniFloat::Top::ieee || f.top == MiniFloat::Top::nan) {
    value = b.select(is(b, Compare::gt, magnitude, f.greatest()), word(b, kQuietNaN), value);
    if (f.top == MiniFloat::Top::ieee)
      value = b.select(is(b, Compare::eq, magnitude, f.overflow()), word(b, kInfinity), value);
  }
  value = b.binary(Opcode::or_, value, sign);
  if (f.top == MiniFloat::Top::minus_0)
    value = b.select(is(b, Compare::eq, bits, sign_bit), word(b, kQuietNaN), value);
  return b.bitcast(DType::f32, value);
}

/// Powers of two: halfway goes up. The exponent's bias is that of f32, whose subnormal numbers
/// above 2^-127 all become 2^-126.
Inst* traced_encode_power(Code& b, const MiniFloat& f, Inst* bits) {
  Inst* normal = shifted_right(b, sum(b, bits, 1u << 22), 23);
  Inst* small = b.select(is(b, Compare::le, bits, 1u << 22), word(b, 0), word(b, 1));
  Inst* power = b.select(is(b, Compare::lt, bits, 1u << 23), small, normal);
  Inst* outside = b.binary(Opcode::or_, is(b, Compare::eq, bits, 0),
                           is(b, Compare::ge, bits, kInfinity));  // a sign bit is beyond too
  Inst* none = b.binary(Opcode::or_, outside, is(b, Compare::gt, power, f.greatest()));
  return b.select(none, word(b, f.overflow()), power);
}

/// Normal results by rounding the bits; subnormal ones by adding the number whose last place is
/// their unit.
Inst* traced_encode(Code& b, const MiniFloat& f, Inst* x) {
  Inst* bits = b.bitcast(DType::ui32, x);
  if (!f.has_sign) return b.convert(DType::ui8, traced_encode_power(b, f, bits));
  int drop = 23 - f.mantissa_bits, least = 1 - f.bias;
  std::uint32_t top = 127u - static_cast<std::uint32_t>(f.bias);
  Inst* magnitude = b.binary(Opcode::and_, bits, word(b, ~(1u << 31)));
  Inst* sign = shifted_left(b, shifted_right(b, bits, 31), f.sign_shift());
  Inst* odd = b.binary(Opcode::and_, shifted_right(b, magnitude, drop), word(b, 1));
  Inst* raised = b.binary(Opcode::add, sum(b, magnitude, (1u << (drop - 1)) - 1), odd);
  Inst* normal = sum(b, shifted_right(b, raised, drop), ~(top << f.mantissa_bits) + 1);
  Inst* anchor = b.constant(DType::f32, std::ldexp(1.0, 23 + least - f.mantissa_bits));
  Inst* near =
      b.bitcast(DType::ui32, b.binary(Opcode::add, b.bitcast(DType::f32, magnitude), anchor));
  Inst* subnormal = b.binary(Opcode::sub, near, b.bitcast(DType::ui32, anchor));
  Inst* result =
      b.select(is(b, Compare::lt, magnitude, static_cast<std::uint32_t>(127 + least) << 23),
               subnormal, normal);
  Inst* beyond = is(b, Compare::gt, result, f.greatest());
  Inst* nan = is(b, Compare::gt, magnitude, kInfinity);
  if (f.top == MiniFloat::Top::minus_0) {
    sign = b.select(is(b, Compare::eq, result, 0), word(b, 0), sign);
    result = b.binary(Opcode::or_, result, sign);
    return b.convert(DType::ui8,
                     b.select(b.binary(Opcode::or_, beyond, nan), word(b, f.nan()), result));
  }
  result = b.select(beyond, word(b, f.overflow()), result);
  result = b.select(nan, word(b, f.nan()), result);
  return b.convert(DType::ui8, b.binary(Opcode::xor_, result, sign));
}

Inst* element_decode(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  return traced_decode(c.b, minifloat(format_of("decode_float", op.attrs)),
                       c.operand(op, 0, index));
}
Inst* element_encode(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  return traced_encode(c.b, minifloat(format_of("encode_float", op.attrs)),
                       c.operand(op, 0, index));
}

Work cost(const Op& op) { return {8 * elements(op), bytes_moved(op)}; }

OpDef define(const char* name, const char* summary, decltype(ir::OpInfo::infer) infer,
             Evaluate evaluate, Elementwise element) {
  return {
      .info = {.name = name, .infer = std::move(infer)},
      .summary = summary,
      .traits = {.elementwise = true, .cheap = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"its tangent is zero: derivatives are taken before types are legalised"},
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = element,
  };
}

}  // namespace

const OpDef& decode_float_def() {
  static const OpDef d = define("strata.decode_float",
                                "the numbers that the bits of a float type below 16 bits stand for",
                                infer<true>, evaluate_decode, Elementwise{element_decode});
  return d;
}
const OpDef& encode_float_def() {
  static const OpDef d =
      define("strata.encode_float", "numbers as the nearest bits of a float type below 16 bits",
             infer<false>, evaluate_encode, Elementwise{element_encode});
  return d;
}

Value* decode_float(Builder& b, Value* bits, DType format) {
  return b.create(decode_float_def().info, {bits}, {{"format", std::string(name(format))}})
      .result();
}
Value* encode_float(Builder& b, Value* number, DType format) {
  return b.create(encode_float_def().info, {number}, {{"format", std::string(name(format))}})
      .result();
}

}  // namespace strata::op
