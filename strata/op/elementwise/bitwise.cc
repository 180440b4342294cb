// Logic on bits and booleans.
#include "strata/op/elementwise/elementwise.h"
#include "strata/op/legalize.h"

namespace strata::op {
namespace {

using loop::Inst;
using loop::Opcode;
using Code = loop::Builder;

constexpr None kBits{"integers and booleans have no tangents"};

DType with_sign(DType t, bool is_signed) {
  switch (bit_width(t)) {
    case 8: return is_signed ? DType::i8 : DType::ui8;
    case 16: return is_signed ? DType::i16 : DType::ui16;
    case 32: return is_signed ? DType::i32 : DType::ui32;
    default: return is_signed ? DType::i64 : DType::ui64;
  }
}

/// The loop form's right shift uses the dtype; here it uses the operation.
template <bool arithmetic>
Inst* shift_right(Code& b, Inst* x, Inst* y) {
  DType t = x->type.dtype, as = with_sign(t, arithmetic);
  return b.bitcast(t, b.binary(Opcode::shr, b.bitcast(as, x), b.bitcast(as, y)));
}

// ---- i2, i4, ui2, ui4: what depends on the bits above the type's own ---------------------------

/// The type's own bits, zeros above.
Value* own_bits(Builder& b, const Op& op, Value* x) {
  return and_(b, x, full_like(b, x, (1 << bit_width(op.operand(0)->dtype())) - 1));
}

std::vector<Parts> split_popcnt(Builder& b, const Op& op, std::span<const Parts> operands) {
  return {{encode(b, popcnt(b, own_bits(b, op, operands[0][0])), op.result()->dtype())}};
}
std::vector<Parts> split_count_leading_zeros(Builder& b, const Op& op,
                                             std::span<const Parts> operands) {
  Value* count = b.create(op.info(), {own_bits(b, op, operands[0][0])}).result();
  count = sub(b, count, full_like(b, count, 8 - bit_width(op.operand(0)->dtype())));
  return {{encode(b, count, op.result()->dtype())}};
}
std::vector<Parts> split_shift_right_logical(Builder& b, const Op& op,
                                             std::span<const Parts> operands) {
  return {{encode(b, shift_right_logical(b, own_bits(b, op, operands[0][0]), operands[1][0]),
                  op.result()->dtype())}};
}
/// Unsigned numbers are extended by their highest bit first.
std::vector<Parts> split_shift_right_arithmetic(Builder& b, const Op& op,
                                                std::span<const Parts> operands) {
  if (is_signed(op.operand(0)->dtype())) return {};
  Value* spare = full_like(b, operands[0][0], 8 - bit_width(op.operand(0)->dtype()));
  Value* extended = shift_right_arithmetic(b, shift_left(b, operands[0][0], spare), spare);
  return {{encode(b, shift_right_arithmetic(b, extended, operands[1][0]), op.result()->dtype())}};
}

}  // namespace

std::span<const OpDef> bitwise_defs() {
  constexpr unsigned kBitsAndBool = kInteger | kBool;
  static const OpDef rows[] = {
      binary<kBitsAndBool>(
          {.name = "stablehlo.and",
           .summary = "bitwise or logical and (spec: and)",
           .jvp = zero_jvp,
           .transpose = kBits,
           .commutative = true},
          [](auto x, auto y) { return numbers::and_(x, y); }, instruction2<Opcode::and_>),
      unary<kInteger>(
          {.name = "stablehlo.count_leading_zeros",
           .summary = "zero bits above the highest set one (spec: count_leading_zeros)",
           .jvp = zero_jvp,
           .transpose = kBits,
           .split = split_count_leading_zeros},
          [](auto x) { return numbers::count_leading_zeros(x); }, instruction1<Opcode::clz>),
      unary<kBitsAndBool>(
          {.name = "stablehlo.not",
           .summary = "bitwise or logical complement (spec: not)",
           .jvp = zero_jvp,
           .transpose = kBits},
          [](auto x) { return numbers::not_(x); }, instruction1<Opcode::not_>),
      binary<kBitsAndBool>(
          {.name = "stablehlo.or",
           .summary = "bitwise or logical or (spec: or)",
           .jvp = zero_jvp,
           .transpose = kBits,
           .commutative = true},
          [](auto x, auto y) { return numbers::or_(x, y); }, instruction2<Opcode::or_>),
      unary<kInteger>(
          {.name = "stablehlo.popcnt",
           .summary = "how many bits are set (spec: popcnt)",
           .jvp = zero_jvp,
           .transpose = kBits,
           .flops = 4,
           .split = split_popcnt},
          [](auto x) { return numbers::popcnt(x); }, instruction1<Opcode::popcnt>),
      binary<kInteger>(
          {.name = "stablehlo.shift_left",
           .summary = "x << y; 0 when y is the width or more (spec: shift_left)",
           .jvp = zero_jvp,
           .transpose = kBits},
          [](auto x, auto y) { return numbers::shift_left(x, y); }, instruction2<Opcode::shl>),
      binary<kInteger>(
          {.name = "stablehlo.shift_right_arithmetic",
           .summary = "x >> y keeping the sign bit (spec: shift_right_arithmetic)",
           .jvp = zero_jvp,
           .transpose = kBits,
           .split = split_shift_right_arithmetic},
          [](auto x, auto y) { return numbers::shift_right_arithmetic(x, y); },
          [](Code& b, Inst* x, Inst* y) { return shift_right<true>(b, x, y); }),
      binary<kInteger>(
          {.name = "stablehlo.shift_right_logical",
           .summary = "x >> y filling with zeros (spec: shift_right_logical)",
           .jvp = zero_jvp,
           .transpose = kBits,
           .split = split_shift_right_logical},
          [](auto x, auto y) { return numbers::shift_right_logical(x, y); },
          [](Code& b, Inst* x, Inst* y) { return shift_right<false>(b, x, y); }),
      binary<kBitsAndBool>(
          {.name = "stablehlo.xor",
           .summary = "bitwise or logical exclusive or (spec: xor)",
           .jvp = zero_jvp,
           .transpose = kBits,
           .commutative = true},
          [](auto x, auto y) { return numbers::xor_(x, y); }, instruction2<Opcode::xor_>),
  };
  return rows;
}

}  // namespace strata::op
