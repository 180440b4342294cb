// Builder: constants computed at once and identities that hold bit for bit (NaN payloads apart).
#include <bit>

#include "strata/loop/loop.h"
#include "strata/loop/semantics.h"

namespace strata::loop {
namespace {

using semantics::Bits;

bool is_constant(const Inst* inst) { return inst->code == Opcode::constant; }
bool is_bits(const Inst* inst, Bits bits) {
  return is_constant(inst) && inst->bits == semantics::trim(inst->type.dtype, bits);
}
bool is_number(const Inst* inst, double value) {
  DType dtype = inst->type.dtype;
  return is_bits(
      inst, dtype == DType::f32 ? semantics::of(static_cast<float>(value)) : semantics::of(value));
}
bool is_integral(Opcode code) {
  return code == Opcode::floor || code == Opcode::ceil || code == Opcode::trunc ||
         code == Opcode::rint;
}
bool is_reassociated(Opcode code) {
  return code == Opcode::add || code == Opcode::mul || code == Opcode::and_ ||
         code == Opcode::or_ || code == Opcode::xor_;
}

/// The bits of an instruction all of whose arguments are constants; nothing for those that are no
/// function of them.
std::optional<Bits> evaluate(const Inst& inst) {
  if (inst.args.empty()) return std::nullopt;
  for (const Inst* arg : inst.args)
    if (!is_constant(arg)) return std::nullopt;
  DType dtype = inst.args[0]->type.dtype;
  auto arg = [&](std::size_t i) { return inst.args[i]->bits; };
  if (inst.code >= Opcode::add && inst.code <= Opcode::shr)
    return semantics::binary(inst.code, dtype, arg(0), arg(1));
  if (inst.code >= Opcode::neg && inst.code <= Opcode::clz)
    return semantics::unary(inst.code, dtype, arg(0));
  switch (inst.code) {
    case Opcode::fma: return semantics::fma(dtype, arg(0), arg(1), arg(2));
    case Opcode::dot2: return semantics::dot2(inst.type.dtype, arg(0), arg(1), arg(2));
    case Opcode::dot4: return semantics::dot4(arg(0), arg(1), arg(2));
    case Opcode::cmp: return semantics::compare(inst.compare, dtype, arg(0), arg(1));
    case Opcode::convert: return semantics::convert(inst.type.dtype, dtype, arg(0));
    case Opcode::bitcast: return arg(0);
    default: return std::nullopt;
  }
}

/// Whether every value of `from` survives the way to `by` and back.
bool is_lossless(DType from, DType by) {
  if (from == DType::i1) return true;
  if (is_integer(from) && is_integer(by)) return bit_width(by) >= bit_width(from);
  if (is_integer(from))
    return by == DType::f64 ? bit_width(from) <= 32 : by == DType::f32 && bit_width(from) <= 16;
  if (!is_float(by)) return false;
  return by == DType::f64 || (by == DType::f32 && from != DType::f64);
}

/// 1 / value if value is a power of two and so is that.
std::optional<double> exact_reciprocal(const Inst* inst) {
  if (!is_constant(inst)) return std::nullopt;
  double value = semantics::widen(inst->type.dtype, inst->bits), inverse = 1 / value;
  int exponent = 0;
  if (!std::isfinite(value) || !std::isfinite(inverse) ||
      std::abs(std::frexp(value, &exponent)) != 0.5)
    return std::nullopt;
  bool kept =
      inst->type.dtype == DType::f64 || static_cast<double>(static_cast<float>(inverse)) == inverse;
  return kept && inverse != 0 ? std::optional(inverse) : std::nullopt;
}

}  // namespace

Inst* Builder::fold(const Inst& inst) {
  if (auto bits = evaluate(inst)) return constant_bits(inst.type.dtype, *bits);
  if (inst.code >= Opcode::add && inst.code <= Opcode::shr) return fold_binary(inst);
  return fold_unary(inst);
}

Inst* Builder::fold_unary(const Inst& inst) {
  if (inst.args.empty()) return nullptr;
  Inst* a = inst.args[0];
  DType to = inst.type.dtype;
  switch (inst.code) {
    case Opcode::neg:
    case Opcode::not_: return a->code == inst.code ? a->args[0] : nullptr;
    case Opcode::abs:
      if (is_unsigned(to) || a->code == Opcode::abs) return a;
      return a->code == Opcode::neg ? unary(Opcode::abs, a->args[0]) : nullptr;
    case Opcode::floor:
    case Opcode::ceil:
    case Opcode::trunc:
    case Opcode::rint: return is_integral(a->code) ? a : nullptr;
    case Opcode::convert: {
      bool back = a->code == Opcode::convert && a->args[0]->type.dtype == to &&
                  is_lossless(to, a->type.dtype);
      return back ? a->args[0] : nullptr;
    }
    case Opcode::bitcast: return a->code == Opcode::bitcast ? bitcast(to, a->args[0]) : nullptr;
    case Opcode::select:
      if (inst.args[1] == inst.args[2]) return inst.args[1];
      return is_constant(a) ? inst.args[a->bits ? 1 : 2] : nullptr;
    case Opcode::fma:
      if (is_number(a, 1)) return binary(Opcode::add, inst.args[1], inst.args[2]);
      if (is_number(inst.args[1], 1)) return binary(Opcode::add, a, inst.args[2]);
      return is_number(inst.args[2], -0.0) ? binary(Opcode::mul, a, inst.args[1]) : nullptr;
    default: return nullptr;
  }
}

Inst* Builder::fold_binary(const Inst& inst) {
  return is_float(inst.type.dtype) ? fold_float(inst) : fold_integer(inst);
}

Inst* Builder::fold_float(const Inst& inst) {
  Inst *a = inst.args[0], *b = inst.args[1];
  switch (inst.code) {
    case Opcode::add:
      if (is_number(a, -0.0)) return b;
      return is_number(b, -0.0) ? a : nullptr;
    case Opcode::sub: return is_number(b, 0.0) ? a : nullptr;
    case Opcode::mul:
      if (is_number(a, 1)) return b;
      if (is_number(b, 1)) return a;
      if (is_number(a, -1)) return unary(Opcode::neg, b);
      return is_number(b, -1) ? unary(Opcode::neg, a) : nullptr;
    case Opcode::div:
      if (auto inverse = exact_reciprocal(b))
        return binary(Opcode::mul, a, constant(inst.type.dtype, *inverse));
      return nullptr;
    case Opcode::min:
    case Opcode::max: return a == b ? a : nullptr;
    default: return nullptr;
  }
}

Inst* Builder::fold_integer(const Inst& inst) {
  Inst *a = inst.args[0], *b = inst.args[1];
  DType dtype = inst.type.dtype;
  constexpr Bits kOnes = ~Bits{0};
  if (is_reassociated(inst.code)) {
    if (is_constant(a)) std::swap(a, b);
    bool nested = is_constant(b) && a->code == inst.code && a->args.size() == 2;
    for (int side = 0; nested && side < 2; ++side) {
      Inst *inner = a->args[static_cast<std::size_t>(side)],
           *other = a->args[static_cast<std::size_t>(1 - side)];
      if (is_constant(inner))
        return binary(
            inst.code, other,
            constant_bits(dtype, semantics::binary(inst.code, dtype, inner->bits, b->bits)));
    }
  }
  switch (inst.code) {
    case Opcode::shr: {
      // What is shifted out altogether: a small index seen in a wide type, in the upper half of a
      // counter, say.
      auto index = is_constant(b) && b->bits < 62 ? as_index(a) : std::nullopt;
      if (index && index->min() >= 0 && index->max() < (std::int64_t{1} << b->bits))
        return constant_bits(dtype, 0);
      return is_bits(b, 0) ? a : nullptr;
    }
    case Opcode::add:
    case Opcode::shl: return is_bits(b, 0) ? a : nullptr;
    case Opcode::sub:
      if (a == b) return constant_bits(dtype, 0);
      return is_bits(b, 0) ? a : nullptr;
    case Opcode::mul:
      if (is_bits(b, 0)) return b;
      return is_bits(b, 1) ? a : nullptr;
    case Opcode::div: return is_bits(b, 1) ? a : nullptr;
    case Opcode::rem: return is_bits(b, 1) ? constant_bits(dtype, 0) : nullptr;
    case Opcode::and_:
      if (a == b || is_bits(b, kOnes)) return a;
      return is_bits(b, 0) ? b : nullptr;
    case Opcode::or_:
      if (a == b || is_bits(b, 0)) return a;
      return is_bits(b, kOnes) ? b : nullptr;
    case Opcode::xor_:
      if (a == b) return constant_bits(dtype, 0);
      return is_bits(b, 0) ? a : nullptr;
    case Opcode::min:
    case Opcode::max: return a == b ? a : nullptr;
    default: return nullptr;
  }
}

/// Comparisons of integers that are affine in the loop variables, decided or simplified by ranges.
Inst* Builder::fold_compare(Compare c, Inst* a, Inst* b) {
  auto x = as_index(a), y = as_index(b);
  if (!x || !y) return nullptr;
  Index ahead = *y - *x;  // as_index gives small ones only, so this did not wrap
  switch (c) {
    case Compare::lt: return not_negative(ahead - 1);
    case Compare::le: return not_negative(ahead);
    case Compare::gt: return not_negative(ahead * -1 - 1);
    case Compare::ge: return not_negative(ahead * -1);
    case Compare::eq:
    case Compare::ne: break;
  }
  bool apart = ahead.min() > 0 || ahead.max() < 0, equal = ahead == Index(0);
  return apart || equal ? constant_int(DType::i1, (c == Compare::eq) == equal) : nullptr;
}

}  // namespace strata::loop
