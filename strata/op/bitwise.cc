// Logic on bits and booleans.
#include "strata/op/elementwise.h"

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

/// The loop form's right shift goes by the dtype; here it goes by the operation.
template <bool arithmetic>
Inst* shift_right(Code& b, Inst* x, Inst* y) {
  DType t = x->type.dtype, as = with_sign(t, arithmetic);
  return b.bitcast(t, b.binary(Opcode::shr, b.bitcast(as, x), b.bitcast(as, y)));
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
           .transpose = kBits},
          [](auto x) { return numbers::count_leading_zeros(x); }, instruction1<Opcode::clz>),
      unary<kBitsAndBool>(
          {.name = "stablehlo.not", .summary = "bitwise or logical complement (spec: not)", .jvp = zero_jvp, .transpose = kBits},
          [](auto x) { return numbers::not_(x); }, instruction1<Opcode::not_>),
      binary<kBitsAndBool>(
          {.name = "stablehlo.or", .summary = "bitwise or logical or (spec: or)", .jvp = zero_jvp, .transpose = kBits, .commutative = true},
          [](auto x, auto y) { return numbers::or_(x, y); }, instruction2<Opcode::or_>),
      unary<kInteger>(
          {.name = "stablehlo.popcnt", .summary = "how many bits are set (spec: popcnt)", .jvp = zero_jvp, .transpose = kBits, .flops = 4},
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
           .transpose = kBits},
          [](auto x, auto y) { return numbers::shift_right_arithmetic(x, y); },
          [](Code& b, Inst* x, Inst* y) { return shift_right<true>(b, x, y); }),
      binary<kInteger>(
          {.name = "stablehlo.shift_right_logical",
           .summary = "x >> y filling with zeros (spec: shift_right_logical)",
           .jvp = zero_jvp,
           .transpose = kBits},
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
