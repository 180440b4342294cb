// reduce_precision: x rounded to a float format of fewer exponent and mantissa bits, and back.
//
// Contract (spec: reduce_precision): an operand of floats, or quantised as a whole; attributes
// `exponent_bits`, `mantissa_bits`.
//   (C1) the result has the operand's type; (C2) exponent_bits is at least 1; (C3) mantissa_bits is
//   at least 0.
//
// The mantissa is rounded to nearest, ties to even, on the bits as they are (also of a subnormal);
// a carry may reach the exponent. Then what is above the format's largest exponent becomes
// infinite, and what is at or below its smallest one (its subnormals) a zero of the same sign,
// unless the format has all the exponent bits of the type. A NaN stays itself, but in a format of
// fewer exponent bits and no mantissa, which has none, it becomes infinity, as StableHLO's
// interpreter has it (XLA keeps it there).
#include <cmath>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "reduce_precision";
  expect_operands(self, operands, 1);
  const Type& type = operands[0]->type();
  if (!is_float(type.dtype())) throw Error(self, "takes floats, got {} (I1)", type.to_string());
  std::int64_t exponent = expect_attr<std::int64_t>(self, attrs, "exponent_bits"),
               mantissa = expect_attr<std::int64_t>(self, attrs, "mantissa_bits");
  if (exponent < 1) throw Error(self, "exponent_bits must be at least 1, got {} (C2)", exponent);
  if (mantissa < 0) throw Error(self, "mantissa_bits must be at least 0, got {} (C3)", mantissa);
  return {type};  // (C1)
}

/// The bit layout of a floating-point type, and which exponent and mantissa bits are kept.
struct Format {
  int width, exponent, mantissa;  // of the type
  std::int64_t kept_exponent, kept_mantissa;

  std::uint64_t low(int bits) const { return bits <= 0 ? 0 : ~std::uint64_t{0} >> (64 - bits); }
  std::uint64_t sign_mask() const { return std::uint64_t{1} << (width - 1); }
  std::uint64_t infinity() const { return low(exponent) << mantissa; }
  bool rounds() const { return kept_mantissa < mantissa; }
  int dropped() const { return mantissa - static_cast<int>(kept_mantissa); }
  bool clips() const { return kept_exponent < exponent; }
  bool has_nan() const { return kept_mantissa > 0 || !clips(); }
  std::int64_t bias() const { return static_cast<std::int64_t>(low(exponent - 1)); }
  std::int64_t kept_bias() const {
    return static_cast<std::int64_t>(low(static_cast<int>(kept_exponent) - 1));
  }
  std::uint64_t largest() const {
    return static_cast<std::uint64_t>(bias() + kept_bias()) << mantissa;
  }
  std::uint64_t smallest() const {
    return static_cast<std::uint64_t>(bias() - kept_bias()) << mantissa;
  }
};

Format format_of(const Op& op) {
  std::int64_t exponent = op.attr<std::int64_t>("exponent_bits"),
               mantissa = op.attr<std::int64_t>("mantissa_bits");
  switch (op.operand(0)->dtype()) {
    case DType::f16: return {16, 5, 10, exponent, mantissa};
    case DType::bf16: return {16, 8, 7, exponent, mantissa};
    case DType::f32: return {32, 8, 23, exponent, mantissa};
    default: return {64, 11, 52, exponent, mantissa};
  }
}

std::uint64_t reduced(std::uint64_t x, const Format& f) {
  std::uint64_t sign = x & f.sign_mask(), magnitude = x ^ sign;
  if (magnitude > f.infinity()) return f.has_nan() ? x : f.infinity();
  if (f.rounds()) {
    std::uint64_t last = std::uint64_t{1} << f.dropped(), odd = (magnitude >> f.dropped()) & 1;
    magnitude = (magnitude + (last / 2 - 1 + odd)) & ~(last - 1);
  }
  if (f.clips()) {
    std::uint64_t exponent = magnitude & f.infinity();
    if (exponent > f.largest()) magnitude = f.infinity();
    if (exponent <= f.smallest()) magnitude = 0;
  }
  return sign | magnitude;
}

template <class Bits>
void reduce_all(const Literal& x, Literal& y, const Format& f) {
  for (std::int64_t i = 0; i < x.count(); ++i) {
    Bits bits;
    std::memcpy(&bits, x.data() + static_cast<std::size_t>(i) * sizeof(Bits), sizeof(Bits));
    bits = static_cast<Bits>(reduced(bits, f));
    std::memcpy(y.mutable_data() + static_cast<std::size_t>(i) * sizeof(Bits), &bits, sizeof(Bits));
  }
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(operands[0].type());
  Format f = format_of(op);
  if (f.width == 16) reduce_all<std::uint16_t>(operands[0], out, f);
  if (f.width == 32) reduce_all<std::uint32_t>(operands[0], out, f);
  if (f.width == 64) reduce_all<std::uint64_t>(operands[0], out, f);
  return {std::move(out)};
}

/// The tangent is rounded as the value is, as in JAX.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  return {ct[0] ? again(b, op, {ct}).result() : nullptr};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  using loop::Compare;
  using loop::Opcode;
  Format f = format_of(op);
  DType type = op.operand(0)->dtype(), bits = f.width == 16   ? DType::ui16
                                              : f.width == 32 ? DType::ui32
                                                              : DType::ui64;
  auto number = [&](std::uint64_t n) { return c.b.constant_bits(bits, n); };
  loop::Inst* x = c.b.bitcast(bits, c.operand(op, 0, index));
  loop::Inst* sign = c.b.binary(Opcode::and_, x, number(f.sign_mask()));
  loop::Inst* whole = c.b.binary(Opcode::xor_, x, sign);
  loop::Inst* magnitude = whole;
  if (f.rounds()) {
    std::uint64_t last = std::uint64_t{1} << f.dropped();
    loop::Inst* odd = c.b.binary(
        Opcode::and_,
        c.b.binary(Opcode::shr, whole, number(static_cast<std::uint64_t>(f.dropped()))), number(1));
    loop::Inst* sum =
        c.b.binary(Opcode::add, magnitude, c.b.binary(Opcode::add, odd, number(last / 2 - 1)));
    magnitude = c.b.binary(Opcode::and_, sum, number(~(last - 1) & f.low(f.width)));
  }
  if (f.clips()) {
    loop::Inst* exponent = c.b.binary(Opcode::and_, magnitude, number(f.infinity()));
    magnitude = c.b.select(c.b.compare(Compare::gt, exponent, number(f.largest())),
                           number(f.infinity()), magnitude);
    magnitude =
        c.b.select(c.b.compare(Compare::le, exponent, number(f.smallest())), number(0), magnitude);
  }
  loop::Inst* nan = f.has_nan() ? x : number(f.infinity());
  return c.b.bitcast(type, c.b.select(c.b.compare(Compare::gt, whole, number(f.infinity())), nan,
                                      c.b.binary(Opcode::or_, sign, magnitude)));
}

/// Floats below 16 bits are rounded as f32, whose exponent range stands in for theirs where that is
/// kept whole.
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  DType type = op.operand(0)->dtype();
  std::string_view spelling = name(type);
  std::size_t e = spelling.find('E');
  Attrs attrs = op.attrs;
  if (e != std::string_view::npos &&
      op.attr<std::int64_t>("exponent_bits") >= spelling[e + 1] - '0')
    attrs.set("exponent_bits", std::int64_t{8});
  Value* rounded =
      b.create(op.info(), {decode(b, operands[0][0], type)}, std::move(attrs)).result();
  return {{encode(b, rounded, type)}};
}

Work cost(const Op& op) { return {4 * elements(op), bytes_moved(op)}; }

}  // namespace

const OpDef& reduce_precision_def() {
  static const OpDef def{
      .info = ir::inferred_by("C1", {.name = "stablehlo.reduce_precision",
                                     .infer = infer,
                                     .text = &ir::formats::reduce_precision,
                                     .quantized = quantized::baseline}),
      .summary = "rounded to fewer exponent and mantissa bits (spec: reduce_precision)",
      .traits = {.elementwise = true, .cheap = true},
      .evaluate = evaluate,
      .jvp = linear_jvp,
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
