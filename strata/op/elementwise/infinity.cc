// Which numbers are infinite: predicates of CHLO.
#include <limits>

#include "strata/op/elementwise/elementwise.h"

namespace strata::op {
namespace {

using loop::Compare;
using loop::Inst;
using loop::Opcode;
using Code = loop::Builder;

constexpr None kConstant{"piecewise constant: never depends on a tangent"};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Inst* equals(Code& b, Inst* x, double value) {
  return b.compare(Compare::eq, x, b.constant(x->type.dtype, value));
}

}  // namespace

std::span<const OpDef> infinity_defs() {
  static const OpDef rows[] = {
      unary<kFloat>(
          {.name = "chlo.is_inf",
           .summary = "whether x is infinite",
           .jvp = zero_jvp,
           .transpose = kConstant,
           .predicate = true,
           .text = &ir::formats::chlo_elementwise},
          [](auto x) -> bool { return std::isinf(x); },
          [](Code& b, Inst* x) { return equals(b, b.unary(Opcode::abs, x), kInfinity); }),
      unary<kFloat>(
          {.name = "chlo.is_neg_inf",
           .summary = "whether x is -infinity",
           .jvp = zero_jvp,
           .transpose = kConstant,
           .predicate = true,
           .text = &ir::formats::chlo_elementwise},
          [](auto x) -> bool { return x == -kInfinity; },
          [](Code& b, Inst* x) { return equals(b, x, -kInfinity); }),
      unary<kFloat>(
          {.name = "chlo.is_pos_inf",
           .summary = "whether x is +infinity",
           .jvp = zero_jvp,
           .transpose = kConstant,
           .predicate = true,
           .text = &ir::formats::chlo_elementwise},
          [](auto x) -> bool { return x == kInfinity; },
          [](Code& b, Inst* x) { return equals(b, x, kInfinity); }),
  };
  return rows;
}

}  // namespace strata::op
