// Hurwitz's zeta function and the derivatives of digamma. Both are differentiable in their second
// operand alone.
#include "strata/op/elementwise/function.h"

namespace strata::op {
namespace {

namespace math = loop::math;
using loop::Inst;
using Code = loop::Builder;

/// z = f(order, x) with dz/dx from `Slope`: Value*(Builder&, order, x).
template <class Slope>
Rule<Jvp> derivative_of_second(Slope) {
  return Jvp([](Builder& b, const Op& op, std::span<Value* const> operands,
                std::span<Value* const> tangents) -> JvpResult {
    if (tangents[0])
      throw Error(std::string(short_name(op.name())), "has no derivative in operand 0, its order")
          .unsupported();
    Value* z = again(b, op, operands).result();
    return {{z},
            {tangents[1] ? mul(b, tangents[1], Slope{}(b, operands[0], operands[1])) : nullptr}};
  });
}

}  // namespace

std::span<const OpDef> zeta_defs() {
  static const OpDef rows[] = {
      binary<kFloat>(
          {.name = "chlo.polygamma",
           .summary =
               "the derivative of order n (operand 0) of digamma; NaN unless n = 0, 1, 2 ...",
           .jvp = derivative_of_second(
               [](Builder& b, Value* n, Value* x) { return polygamma(b, one_plus(b, n), x); }),
           .transpose = kNotLinear,
           .flops = 30,
           .text = &ir::formats::chlo_elementwise},
          [](auto n, auto x) { return math::polygamma(n, x); },
          [](Code& b, Inst* n, Inst* x) { return math::polygamma(b, n, x); }),
      binary<kFloat>(
          {.name = "chlo.zeta",
           .summary = "Hurwitz's zeta function: the sum of (q + i)^-s for i = 0, 1, 2 ..., "
                      "operands s and q",
           .jvp = derivative_of_second([](Builder& b, Value* s, Value* q) {
             return mul(b, neg(b, s), zeta(b, one_plus(b, s), q));
           }),
           .transpose = kNotLinear,
           .flops = 30,
           .text = &ir::formats::chlo_elementwise},
          [](auto s, auto q) { return math::zeta(s, q); },
          [](Code& b, Inst* s, Inst* q) { return math::zeta(b, s, q); }),
  };
  return rows;
}

}  // namespace strata::op
