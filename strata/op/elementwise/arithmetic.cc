// Arithmetic: the rows whose loop form is one instruction or a few.
#include "strata/op/elementwise/complex/functions.h"
#include "strata/op/elementwise/elementwise.h"

namespace strata::op {
namespace {

using loop::Inst;
using loop::Opcode;
using Code = loop::Builder;

// ---- transposes --------------------------------------------------------------------------------

Values transpose_add(Builder&, const Op&, std::span<Value* const>, const std::vector<bool>& linear,
                     std::span<Value* const> ct) {
  return {linear[0] ? ct[0] : nullptr, linear[1] ? ct[0] : nullptr};
}
Values transpose_subtract(Builder& b, const Op&, std::span<Value* const>,
                          const std::vector<bool>& linear, std::span<Value* const> ct) {
  return {linear[0] ? ct[0] : nullptr, linear[1] && ct[0] ? neg(b, ct[0]) : nullptr};
}
Values transpose_multiply(Builder& b, const Op&, std::span<Value* const> operands,
                          const std::vector<bool>& linear, std::span<Value* const> ct) {
  STRATA_CHECK(linear[0] != linear[1], "a product is linear in one factor at a time");
  if (!ct[0]) return {nullptr, nullptr};
  if (linear[0]) return {mul(b, ct[0], operands[1]), nullptr};
  return {nullptr, mul(b, operands[0], ct[0])};
}
Values transpose_divide(Builder& b, const Op&, std::span<Value* const> operands,
                        const std::vector<bool>& linear, std::span<Value* const> ct) {
  STRATA_CHECK(!linear[1], "a quotient is not linear in its denominator");
  return {ct[0] ? div(b, ct[0], operands[1]) : nullptr, nullptr};
}
Values transpose_negate(Builder& b, const Op&, std::span<Value* const>, const std::vector<bool>&,
                        std::span<Value* const> ct) {
  return {ct[0] ? neg(b, ct[0]) : nullptr};
}

// ---- derivatives -------------------------------------------------------------------------------

/// Weight of one side of a maximum or minimum z: 1 where it is the larger, 1/2 where both are
/// equal, else 0.
Value* share(Builder& b, Value* mine, Value* other, Value* z) {
  Value* tie = select(b, compare(b, other, z, "EQ"), full_like(b, z, 0.5), full_like(b, z, 1));
  return select(b, compare(b, mine, z, "EQ"), tie, zeros_like(b, z));
}
constexpr auto share_left = [](Builder& b, Value* x, Value* y, Value* z, Value* dx) {
  return mul(b, dx, share(b, x, y, z));
};
constexpr auto share_right = [](Builder& b, Value* x, Value* y, Value* z, Value* dy) {
  return mul(b, dy, share(b, y, x, z));
};

/// dx sign(x); of complex numbers, the part of dx along x.
Value* abs_tangent(Builder& b, Value* x, Value* y, Value* dx) {
  if (!is_complex(x->dtype())) return mul(b, dx, sign(b, x));
  Value* safe = select(b, compare(b, y, zeros_like(b, y), "EQ"), full_like(b, y, 1), y);
  auto along = [&](Value* part, Value* d) { return mul(b, div(b, part, safe), d); };
  return add(b, along(real(b, x), real(b, dx)), along(imag(b, x), imag(b, dx)));
}
/// Zero; of complex numbers, the part of dx across x over |x|.
JvpResult sign_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  JvpResult out = zero_jvp(b, op, operands, tangents);
  if (!is_complex(op.operand(0)->dtype()) || !tangents[0]) return out;
  Value *re = real(b, out.results[0]), *im = imag(b, out.results[0]), *d_re = real(b, tangents[0]),
        *d_im = imag(b, tangents[0]);
  Value *r = abs(b, operands[0]), *zero = zeros_like(b, r), *at_zero = compare(b, r, zero, "EQ");
  Value* inverse = select(b, at_zero, zero, div(b, full_like(b, r, 1), r));
  Value* across = mul(b, sub(b, mul(b, re, d_im), mul(b, im, d_re)), inverse);
  out.tangents[0] = complex(b, neg(b, mul(b, im, across)), mul(b, re, across));
  return out;
}
/// y x^(y-1), and 0 where y = 0 (also at x = 0).
Value* power_left(Builder& b, Value* x, Value* y, Value*, Value* dx) {
  Value* zero = zeros_like(b, y);
  Value* is_zero = compare(b, y, zero, "EQ");
  Value* exponent = select(b, is_zero, full_like(b, y, 1), sub(b, y, full_like(b, y, 1)));
  return mul(b, dx, select(b, is_zero, zero, mul(b, y, pow(b, x, exponent))));
}
/// log(x) x^y, and 0 at x = 0.
Value* power_right(Builder& b, Value* x, Value*, Value* z, Value* dy) {
  Value* safe = select(b, compare(b, x, zeros_like(b, x), "EQ"), full_like(b, x, 1), x);
  return mul(b, dy, mul(b, log(b, safe), z));
}
/// -trunc(x / y).
Value* remainder_right(Builder& b, Value* x, Value* y, Value*, Value* dy) {
  Value* quotient = div(b, x, y);
  Value* whole = mul(b, sign(b, quotient), floor(b, abs(b, quotient)));
  return mul(b, neg(b, dy), whole);
}

// ---- complex numbers ---------------------------------------------------------------------------

std::vector<Parts> split_abs(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (!is_complex(op.operand(0)->dtype())) return {};
  return {complex_rules::narrowed(
      complex_rules::magnitude(complex_rules::widened(b, op, 0, operands)), op.result()->dtype())};
}

// ---- kernels -----------------------------------------------------------------------------------

Inst* traced_sign(Code& b, Inst* x) {
  DType t = x->type.dtype;
  Inst* zero = b.constant(t, 0);
  Inst* below =
      b.select(b.compare(loop::Compare::lt, x, zero), b.constant(t, -1), is_float(t) ? x : zero);
  return b.select(b.compare(loop::Compare::gt, x, zero), b.constant(t, 1), below);
}

/// numbers::integer_pow with as many steps as the exponent has bits.
Inst* traced_integer_pow(Code& b, Inst* x, Inst* y) {
  DType t = x->type.dtype;
  Inst *zero = b.constant_int(t, 0), *one = b.constant_int(t, 1);
  Inst *result = one, *base = x;
  for (int bit = 0; bit < bit_width(t); ++bit) {
    Inst* set =
        b.compare(loop::Compare::ne,
                  b.binary(Opcode::and_, y, b.constant_bits(t, std::uint64_t{1} << bit)), zero);
    result = b.select(set, b.binary(Opcode::mul, result, base), result);
    base = b.binary(Opcode::mul, base, base);
  }
  if (!is_signed(t)) return result;
  Inst* minus_one = b.constant_int(t, -1);
  Inst* odd = b.compare(loop::Compare::ne, b.binary(Opcode::and_, y, one), zero);
  Inst* of_minus_one = b.select(odd, minus_one, one);
  Inst* inverse = b.select(b.compare(loop::Compare::eq, x, minus_one), of_minus_one, zero);
  inverse = b.select(b.compare(loop::Compare::eq, x, one), one, inverse);
  return b.select(b.compare(loop::Compare::lt, y, zero), inverse, result);
}
Inst* traced_pow(Code& b, Inst* x, Inst* y) {
  return is_float(x->type.dtype) ? loop::math::pow(b, x, y) : traced_integer_pow(b, x, y);
}

}  // namespace

std::span<const OpDef> arithmetic_defs() {
  // clang-format off: a table
  static const OpDef rows[] = {
      unary<kSigned | kInexact>({.name = "stablehlo.abs", .summary = "|x| (spec: abs)",
          .jvp = derivative([](Builder& b, Value* x, Value* y, Value* dx) { return abs_tangent(b, x, y, dx); }), .transpose = kNotLinear, .split = split_abs, .real_result = true},
          [](auto x) { return numbers::abs(x); }, instruction1<Opcode::abs>),
      binary<kAny>({.name = "stablehlo.add", .summary = "x + y; or, for booleans (spec: add)",
          .jvp = derivative([](Builder&, Value*, Value*, Value*, Value* dx) { return dx; },
                            [](Builder&, Value*, Value*, Value*, Value* dy) { return dy; }),
          .transpose = transpose_add, .commutative = true,
          .split = complex_rules::part_by_part, .quantized = quantized::sum},
          [](auto x, auto y) { return numbers::add(x, y); }, instruction2<Opcode::add, Opcode::or_>),
      binary<kNumber | kComplex>({.name = "stablehlo.divide",
          .summary = "x / y; integers truncate, x / 0 = -1 (spec: divide)",
          .jvp = derivative([](Builder& b, Value*, Value* y, Value*, Value* dx) { return div(b, dx, y); },
                            [](Builder& b, Value*, Value* y, Value* z, Value* dy) { return mul(b, dy, neg(b, div(b, z, y))); }),
          .transpose = transpose_divide, .flops = 4,
          .split = complex_rules::binary<complex_rules::divide>},
          [](auto x, auto y) { return numbers::div(x, y); }, instruction2<Opcode::div>),
      binary<kAny>({.name = "stablehlo.maximum",
          .summary = "the larger, NaN if either is; or, for booleans (spec: maximum)",
          .jvp = derivative(share_left, share_right), .transpose = kNotLinear,
          .commutative = true, .split = complex_rules::binary<complex_rules::maximum>},
          [](auto x, auto y) { return numbers::max(x, y); }, instruction2<Opcode::max, Opcode::or_>),
      binary<kAny>({.name = "stablehlo.minimum",
          .summary = "the smaller, NaN if either is; and, for booleans (spec: minimum)",
          .jvp = derivative(share_left, share_right), .transpose = kNotLinear,
          .commutative = true, .split = complex_rules::binary<complex_rules::minimum>},
          [](auto x, auto y) { return numbers::min(x, y); }, instruction2<Opcode::min, Opcode::and_>),
      binary<kAny>({.name = "stablehlo.multiply",
          .summary = "x * y; and, for booleans (spec: multiply)",
          .jvp = derivative([](Builder& b, Value*, Value* y, Value*, Value* dx) { return mul(b, dx, y); },
                            [](Builder& b, Value* x, Value*, Value*, Value* dy) { return mul(b, x, dy); }),
          .transpose = transpose_multiply, .commutative = true,
          .split = complex_rules::binary<complex_rules::multiply>},
          [](auto x, auto y) { return numbers::mul(x, y); }, instruction2<Opcode::mul, Opcode::and_>),
      unary<kNumber | kComplex>({.name = "stablehlo.negate", .summary = "-x (spec: negate)",
          .jvp = derivative([](Builder& b, Value*, Value*, Value* dx) { return neg(b, dx); }), .transpose = transpose_negate, .split = complex_rules::part_by_part},
          [](auto x) { return numbers::neg(x); }, instruction1<Opcode::neg>),
      binary<kNumber | kComplex>({.name = "stablehlo.power",
          .summary = "x to the power of y (spec: power)",
          .jvp = derivative([](Builder& b, Value* x, Value* y, Value* z, Value* dx) { return power_left(b, x, y, z, dx); },
                            [](Builder& b, Value* x, Value* y, Value* z, Value* dy) { return power_right(b, x, y, z, dy); }),
          .transpose = kNotLinear, .flops = 60,
          .split = complex_rules::binary<complex_rules::power>},
          [](auto x, auto y) { return numbers::pow(x, y); },
          [](Code& b, Inst* x, Inst* y) { return traced_pow(b, x, y); }),
      binary<kNumber>({.name = "stablehlo.remainder",
          .summary = "x - y trunc(x / y), exact; x % 0 = x for integers (spec: remainder)",
          .jvp = derivative([](Builder&, Value*, Value*, Value*, Value* dx) { return dx; },
                            [](Builder& b, Value* x, Value* y, Value* z, Value* dy) { return remainder_right(b, x, y, z, dy); }),
          .transpose = kNotLinear, .flops = 12},
          [](auto x, auto y) { return numbers::rem(x, y); }, instruction2<Opcode::rem>),
      unary<kSigned | kInexact>({.name = "stablehlo.sign",
          .summary = "-1, 0 or 1; zeros and NaN stay themselves (spec: sign)",
          .jvp = sign_jvp, .transpose = kNotLinear,
          .split = complex_rules::unary<complex_rules::sign>},
          [](auto x) { return numbers::sign(x); },
          [](Code& b, Inst* x) { return traced_sign(b, x); }),
      unary<kNumber | kComplex>({.name = "chlo.square", .summary = "x times itself",
          .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) { return mul(b, dx, add(b, x, x)); }), .transpose = kNotLinear, .text = &ir::formats::chlo_elementwise, .split = complex_rules::unary<complex_rules::square>},
          [](auto x) { return numbers::mul(x, x); },
          [](Code& b, Inst* x) { return b.binary(Opcode::mul, x, x); }),
      binary<kNumber | kComplex>({.name = "stablehlo.subtract", .summary = "x - y (spec: subtract)",
          .jvp = derivative([](Builder&, Value*, Value*, Value*, Value* dx) { return dx; },
                            [](Builder& b, Value*, Value*, Value*, Value* dy) { return neg(b, dy); }),
          .transpose = transpose_subtract, .split = complex_rules::part_by_part},
          [](auto x, auto y) { return numbers::sub(x, y); }, instruction2<Opcode::sub>),
  };
  // clang-format on
  return rows;
}

}  // namespace strata::op
