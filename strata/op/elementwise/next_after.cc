// next_after: the neighbour of x in the direction of y, as C's nextafter, on the bits of every
// float type.
//
// x, y of one type; NaN where either is; y where they are equal; from a zero the least subnormal
// with y's sign; else the number whose bits are one more or one less, which are sign and magnitude.
#include "strata/op/elementwise/elementwise.h"
#include "strata/op/legalize.h"

namespace strata::op {
namespace {

using loop::Compare;
using loop::Inst;
using loop::Opcode;

template <class T>
using Pattern =
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class T>
T neighbour(T x, T y) {
  using U = Pattern<T>;
  auto a = static_cast<Compute<T>>(x), b = static_cast<Compute<T>>(y);
  if (std::isnan(a) || std::isnan(b))
    return static_cast<T>(std::numeric_limits<Compute<T>>::quiet_NaN());
  if (a == b) return y;
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
  if (a == 0) return std::bit_cast<T>(static_cast<U>((std::bit_cast<U>(y) & sign) | 1u));
  bool outward = (b > a) == (a > 0);
  return std::bit_cast<T>(static_cast<U>(std::bit_cast<U>(x) + (outward ? 1 : -1)));
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal &x = operands[0], &y = operands[1];
  Literal out(op.result()->type().with(x.shape()));
  dispatch(x.dtype(), [&]<class T>(T) {
    if constexpr ((kind_of_type<T>() & kFloat) != 0) {
      auto xs = x.span<T>(), ys = y.span<T>();
      auto zs = out.mutable_span<T>();
      for (std::size_t i = 0; i < xs.size(); ++i) zs[i] = neighbour(xs[i], ys[i]);
    } else {
      STRATA_UNREACHABLE("next_after of {}", name(x.dtype()));
    }
  });
  return {std::move(out)};
}

DType pattern_type(DType t) {
  return byte_width(t) == 2 ? DType::i16 : byte_width(t) == 4 ? DType::i32 : DType::i64;
}

/// `neighbour` without branches; bf16 and f16 are compared as f32.
Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  Inst *x = c.operand(op, 0, index), *y = c.operand(op, 1, index);
  DType t = x->type.dtype, pattern = pattern_type(t);
  Inst *a = widened(c.b, x), *b = widened(c.b, y);
  Inst *bits = c.b.bitcast(pattern, x), *toward = c.b.bitcast(pattern, y);
  Inst *zero = c.b.constant(a->type.dtype, 0), *one = c.b.constant_int(pattern, 1);
  Inst* sign = c.b.constant_bits(pattern, std::uint64_t{1} << (bit_width(pattern) - 1));

  Inst* inward =
      c.b.binary(Opcode::xor_, c.b.compare(Compare::gt, b, a), c.b.compare(Compare::gt, a, zero));
  Inst* moved =
      c.b.binary(Opcode::add, bits, c.b.select(inward, c.b.constant_int(pattern, -1), one));
  Inst* least = c.b.binary(Opcode::or_, c.b.binary(Opcode::and_, toward, sign), one);
  Inst* result = c.b.select(c.b.compare(Compare::eq, a, zero), least, moved);
  result = c.b.select(c.b.compare(Compare::eq, a, b), toward, result);
  Inst* nan =
      c.b.binary(Opcode::or_, c.b.compare(Compare::ne, a, a), c.b.compare(Compare::ne, b, b));
  Inst* quiet = c.b.bitcast(
      pattern,
      c.b.convert(t, c.b.constant(a->type.dtype, std::numeric_limits<double>::quiet_NaN())));
  return c.b.bitcast(t, c.b.select(nan, quiet, result));
}

/// The same on the bits of narrow floats, which have no zero of negative sign (those called FNUZ)
/// or no sign at all (f8E8M0FNU).
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  DType t = op.result()->dtype();
  bool unsigned_zero =
      t == DType::f8E4M3B11FNUZ || t == DType::f8E4M3FNUZ || t == DType::f8E5M2FNUZ;
  int sign_bit = t == DType::f8E8M0FNU ? 0 : 1 << (bit_width(t) - 1);
  Value *x = decode(b, operands[0][0], t), *y = decode(b, operands[1][0], t);
  Value *bits = convert(b, operands[0][0], DType::i32),
        *toward = convert(b, operands[1][0], DType::i32);
  auto word = [&](int value) { return full_like(b, bits, value); };
  auto sign = [&](Value* v) { return and_(b, v, word(sign_bit)); };

  Value* negative = compare(b, sign(bits), word(0), "NE");
  Value* inward = xor_(b, compare(b, y, x, "GT"), not_(b, negative));
  Value* magnitude = add(b, and_(b, bits, word(~sign_bit)), select(b, inward, word(-1), word(1)));
  Value* moved = or_(b, magnitude, sign(bits));
  if (unsigned_zero) moved = select(b, compare(b, magnitude, word(0), "EQ"), word(0), moved);
  Value* result = moved;
  if (sign_bit != 0)
    result =
        select(b, compare(b, x, full_like(b, x, 0), "EQ"), or_(b, sign(toward), word(1)), result);
  result = select(b, compare(b, x, y, "EQ"), toward, result);
  Value* nan = or_(b, compare(b, x, x, "NE"), compare(b, y, y, "NE"));
  Value* quiet = convert(b, encode(b, full_like(b, x, std::numeric_limits<double>::quiet_NaN()), t),
                         DType::i32);
  return {{convert(b, select(b, nan, quiet, result), DType::ui8)}};
}

}  // namespace

const OpDef& next_after_def() {
  static const OpDef def = [] {
    OpDef d = elementwise(
        {.name = "chlo.next_after",
         .summary = "the neighbour of x in the direction of y, which is y when they are equal",
         .jvp =
             derivative([](Builder&, Value*, Value*, Value*, Value* dx) { return dx; },
                        [](Builder&, Value*, Value*, Value*, Value*) -> Value* { return nullptr; }),
         .transpose = kNotLinear,
         .flops = 12,
         .text = &ir::formats::chlo_elementwise},
        kFloat, 2, evaluate, Elementwise{element});
    d.split = split;
    return d;
  }();
  return def;
}

}  // namespace strata::op
