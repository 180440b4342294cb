// iota: 0, 1, 2, ... along iota_dimension, (C1) which is one of the result's (spec: iota).
#include "strata/op/elementwise/elementwise.h"
#include "strata/op/quantized/quantized.h"

namespace strata::op {
namespace {

std::size_t dim_of(const Op& op) {
  return static_cast<std::size_t>(op.attr<std::int64_t>("iota_dimension"));
}

void verify(const Op& op) {
  expect_operands("iota", op.operands, 0);
  const Type& out = op.result()->type();
  if (is_bool(out.dtype())) throw Error("iota", "dtype i1 is not admitted in {}", out.to_string());
  std::int64_t dim = expect_attr<std::int64_t>("iota", op.attrs, "iota_dimension");
  if (dim < 0 || dim >= out.rank())
    throw Error("iota", "iota_dimension {} is outside of {} (C1)", dim, out.to_string());
}

Literals evaluate(const Op& op, std::span<const Literal>, Evaluator&) {
  Literal out(op.result()->type());
  dispatch(out.dtype(), [&]<class T>(T) {
    if constexpr ((kind_of_type<T>() & kNumber) != 0) {
      auto ys = out.mutable_span<T>();
      for_each_index(out.shape(), [&](std::span<const std::int64_t> index, std::int64_t at) {
        ys[static_cast<std::size_t>(at)] =
            static_cast<T>(static_cast<Compute<T>>(index[dim_of(op)]));
      });
    }
  });
  return {std::move(out)};
}

Factors shard(const Op& op) { return pointwise_factors(op); }

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  DType dtype = op.result()->dtype();
  return c.b.convert(dtype, c.b.convert(compute_type(dtype), c.b.value(index[dim_of(op)])));
}

std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts>) {
  const Type& type = op.result()->type();
  if (!is_complex(type.dtype())) return {};
  Value* re = iota(b, type.with(real_part(type.dtype())), static_cast<int>(dim_of(op)));
  return {{re, zeros_like(b, re)}};
}

}  // namespace

const OpDef& iota_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.iota",
               .text = &ir::formats::iota,
               .verify = verify,
               .quantized = quantized::baseline},
      .summary = "counts along a dimension (spec: iota)",
      .traits = {.cheap = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"no operands"},
      .batch = constant_batch,
      .shard = shard,
      .cost = move_cost,
      .lowering = Elementwise{element},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
