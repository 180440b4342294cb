// strata.fma: x * y + z rounded once (bf16 and f16: computed in f32, rounded once more). Products
// of complex numbers and arithmetic in pairs of floats are made of it.
#include "strata/op/elementwise/fma.h"

#include "strata/op/elementwise/elementwise.h"

namespace strata::op {
namespace {

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type().with(operands[0].shape()));
  dispatch(out.dtype(), [&]<class T>(T) {
    if constexpr (kind_of_type<T>() == kFloat) {
      using C = Compute<T>;
      auto xs = operands[0].span<T>(), ys = operands[1].span<T>(), zs = operands[2].span<T>();
      auto to = out.mutable_span<T>();
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<T>(
            std::fma(static_cast<C>(xs[i]), static_cast<C>(ys[i]), static_cast<C>(zs[i])));
    }
  });
  return {std::move(out)};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  auto read = [&](int i) { return widened(c.b, c.operand(op, i, index)); };
  loop::Inst *x = read(0), *y = read(1), *z = read(2);
  return c.b.convert(op.result()->dtype(), c.b.fma(x, y, z));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* result = again(b, op, operands).result();
  Value* left = tangents[0] ? mul(b, tangents[0], operands[1]) : nullptr;
  Value* right = tangents[1] ? mul(b, operands[0], tangents[1]) : nullptr;
  return {{result}, {add_or_null(b, add_or_null(b, left, right), tangents[2])}};
}

}  // namespace

const OpDef& fma_def() {
  static const OpDef d = elementwise({.name = "strata.fma",
                                      .summary = "x * y + z, rounded once",
                                      .jvp = jvp,
                                      .transpose = kNotLinear},
                                     kFloat, 3, evaluate, Elementwise{element});
  return d;
}

Value* fma(Builder& b, Value* x, Value* y, Value* z) {
  return b.create(fma_def().info, {x, y, z}).result();
}

}  // namespace strata::op
