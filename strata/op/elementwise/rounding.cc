// Rounding to integers, and the question whether a number is finite: rows whose derivative is zero.
#include <limits>

#include "strata/op/elementwise/elementwise.h"

namespace strata::op {
namespace {

using loop::Compare;
using loop::Inst;
using loop::Opcode;
using Code = loop::Builder;

constexpr None kConstant{"piecewise constant: never depends on a tangent"};

/// numbers::round_nearest_afz.
Inst* traced_afz(Code& b, Inst* x) {
  DType t = x->type.dtype;
  Inst* whole = b.unary(Opcode::trunc, x);
  Inst* rest = b.unary(Opcode::abs, b.binary(Opcode::sub, x, whole));
  Inst* away =
      b.select(b.compare(Compare::lt, x, b.constant(t, 0)), b.constant(t, -1), b.constant(t, 1));
  return b.select(b.compare(Compare::ge, rest, b.constant(t, 0.5)),
                  b.binary(Opcode::add, whole, away), whole);
}

Inst* traced_is_finite(Code& b, Inst* x) {
  return b.compare(Compare::lt, b.unary(Opcode::abs, x),
                   b.constant(x->type.dtype, std::numeric_limits<double>::infinity()));
}

}  // namespace

std::span<const OpDef> rounding_defs() {
  static const OpDef rows[] = {
      unary<kFloat>(
          {.name = "stablehlo.ceil",
           .summary = "the nearest integer not below x (spec: ceil)",
           .jvp = zero_jvp,
           .transpose = kConstant},
          [](auto x) { return std::ceil(x); }, instruction1<Opcode::ceil>),
      unary<kFloat>(
          {.name = "stablehlo.floor",
           .summary = "the nearest integer not above x (spec: floor)",
           .jvp = zero_jvp,
           .transpose = kConstant},
          [](auto x) { return std::floor(x); }, instruction1<Opcode::floor>),
      unary<kFloat>(
          {.name = "stablehlo.is_finite",
           .summary = "whether x is neither infinite nor NaN (spec: is_finite)",
           .jvp = zero_jvp,
           .transpose = kConstant,
           .predicate = true},
          [](auto x) -> bool { return std::isfinite(x); },
          [](Code& b, Inst* x) { return traced_is_finite(b, x); }),
      unary<kFloat>(
          {.name = "stablehlo.round_nearest_afz",
           .summary = "the nearest integer, ties away from zero (spec: round_nearest_afz)",
           .jvp = zero_jvp,
           .transpose = kConstant,
           .flops = 4},
          [](auto x) { return numbers::round_nearest_afz(x); },
          [](Code& b, Inst* x) { return traced_afz(b, x); }),
      unary<kFloat>(
          {.name = "stablehlo.round_nearest_even",
           .summary = "the nearest integer, ties to even (spec: round_nearest_even)",
           .jvp = zero_jvp,
           .transpose = kConstant},
          [](auto x) { return std::nearbyint(x); }, instruction1<Opcode::rint>),
  };
  return rows;
}

}  // namespace strata::op
