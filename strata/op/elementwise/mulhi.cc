// mulhi: the upper half of the product of two integers, which has twice their width.
#include "strata/op/elementwise/elementwise.h"

namespace strata::op {
namespace {

using loop::Inst;
using loop::Opcode;
using Code = loop::Builder;

template <class T>
T upper_half(T x, T y) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(x) * static_cast<Wide>(y)) >> (8 * sizeof(T)));
}

/// By the four products of 32-bit halves; a negative factor counts 2^64 too much as an unsigned
/// one.
Inst* upper_half_of_64(Code& b, Inst* x, Inst* y) {
  DType t = x->type.dtype, u = DType::ui64;
  Inst *ux = b.bitcast(u, x), *uy = b.bitcast(u, y);
  Inst *half = b.constant_int(u, 32), *mask = b.constant_bits(u, 0xffffffffu);
  auto low = [&](Inst* v) { return b.binary(Opcode::and_, v, mask); };
  auto high = [&](Inst* v) { return b.binary(Opcode::shr, v, half); };
  auto times = [&](Inst* v, Inst* w) { return b.binary(Opcode::mul, v, w); };
  auto plus = [&](Inst* v, Inst* w) { return b.binary(Opcode::add, v, w); };
  Inst* first = plus(times(high(ux), low(uy)), high(times(low(ux), low(uy))));
  Inst* second = plus(times(low(ux), high(uy)), low(first));
  Inst* upper = plus(plus(times(high(ux), high(uy)), high(first)), high(second));
  if (is_unsigned(t)) return upper;
  auto if_negative = [&](Inst* v, Inst* w) {
    return b.binary(Opcode::and_, b.binary(Opcode::shr, v, b.constant_int(t, 63)), w);
  };
  Inst* excess = b.binary(Opcode::add, if_negative(x, y), if_negative(y, x));
  return b.binary(Opcode::sub, b.bitcast(t, upper), excess);
}

Inst* traced_upper_half(Code& b, Inst* x, Inst* y) {
  DType t = x->type.dtype;
  if (bit_width(t) == 64) return upper_half_of_64(b, x, y);
  DType wide = is_signed(t) ? DType::i64 : DType::ui64;
  Inst* product = b.binary(Opcode::mul, b.convert(wide, x), b.convert(wide, y));
  return b.convert(t, b.binary(Opcode::shr, product, b.constant_int(wide, bit_width(t))));
}

/// Of i2, i4, ui2 and ui4, whose numbers stand in a byte, which has room for the product.
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  Value* product = mul(b, operands[0][0], operands[1][0]);
  Value* by = full_like(b, product, bit_width(op.result()->dtype()));
  return {{is_signed(product->dtype()) ? shift_right_arithmetic(b, product, by)
                                       : shift_right_logical(b, product, by)}};
}

}  // namespace

const OpDef& mulhi_def() {
  static const OpDef def = [] {
    OpDef d = binary<kInteger>(
        {.name = "chlo.mulhi",
         .summary = "the upper half of the product of two integers",
         .jvp = zero_jvp,
         .transpose = None{"integers have no tangents"},
         .flops = 4,
         .commutative = true,
         .text = &ir::formats::chlo_elementwise},
        [](auto x, auto y) { return upper_half(x, y); },
        [](Code& b, Inst* x, Inst* y) { return traced_upper_half(b, x, y); });
    d.split = split;
    return d;
  }();
  return def;
}

}  // namespace strata::op
