// broadcast_in_dim: dimension d of the operand becomes dimension broadcast_dimensions[d] of the
// result; where its size is 1 it stretches, and all other dimensions of the result repeat.
//
// Contract (spec: broadcast_in_dim): (C1) the result has the operand's element type; (C2)
// broadcast_dimensions has an entry per dimension of the operand, (C3) each within the result, (C4)
// no two equal; (C5) a dimension is 1 or that of the result; (C6) an axis of quantisation goes
// where its dimension goes.
#include <algorithm>
#include <numeric>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

const Ints& dims_of(const Op& op) { return op.attr<Ints>("broadcast_dimensions"); }

void verify(const Op& op) {
  const char* self = "broadcast_in_dim";
  expect_operands(self, op.operands, 1);
  const Type &in = op.operand(0)->type(), &out = op.result()->type();
  const Ints& dims = expect_attr<Ints>(self, op.attrs, "broadcast_dimensions");
  if (in.dtype() != out.dtype())  // broadcast_in_dim_c1
    throw Error(self, "result dtype {} differs from the operand's {} (C1)", name(out.dtype()),
                name(in.dtype()));
  expect_length(self, "broadcast_dimensions (C2)", dims, in.rank());
  for (int d = 0; d < in.rank(); ++d) {
    std::int64_t to = dims[static_cast<std::size_t>(d)];
    if (to < 0 || to >= out.rank())  // broadcast_in_dim_c3
      throw Error(self, "broadcast_dimensions[{}] = {} is outside of the result {} (C3)", d, to,
                  out.to_string());
    if (std::count(dims.begin(), dims.end(), to) > 1)
      throw Error(self, "broadcast_dimensions names dimension {} twice (C4)", to);
    const Dim &from = in.shape().dim(d), &into = out.shape().dim(static_cast<int>(to));
    if (!(from == Dim(1)) && !may_equal(from, into))  // broadcast_in_dim_c5
      throw Error(self, "dimension {} of {} fits neither 1 nor dimension {} of {} (C5)", d,
                  in.to_string(), to, out.to_string());
  }
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  const Ints& dims = dims_of(op);
  std::vector<std::int64_t> strides = x.shape().strides(), sizes = x.shape().sizes();
  return {moved(x, op.result()->type(), [&](std::span<const std::int64_t> index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (sizes[d] != 1) at += index[static_cast<std::size_t>(dims[d])] * strides[d];
    return at;
  })};
}

/// Sums over the repeated and stretched dimensions, then restores the operand's order and its
/// dimensions of size 1.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr};
  const Ints& dims = dims_of(op);
  const Shape &in = op.operand(0)->shape(), &out = op.result()->shape();
  Ints kept;  // result dimensions that are not summed, increasing
  Ints summed;
  for (int r = 0; r < out.rank(); ++r) {
    auto it = std::find(dims.begin(), dims.end(), r);
    bool keeps = it != dims.end() && in.dim(static_cast<int>(it - dims.begin())) == out.dim(r);
    (keeps ? kept : summed).push_back(r);
  }
  Value* sum = reduce_sum(b, ct[0], summed);
  Ints permutation;  // the operand's order among the kept dimensions
  for (std::int64_t r : dims) {
    auto it = std::find(kept.begin(), kept.end(), r);
    if (it != kept.end()) permutation.push_back(it - kept.begin());
  }
  return {reshape(b, transpose(b, sum, permutation), in)};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t size) {
  Shape shape = with_leading(op.result()->type(), size).shape();
  return {{broadcast_in_dim(b, operands[0], shape, prepended(0, shifted(dims_of(op))))}, {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  const Ints& dims = dims_of(op);
  const Shape &in = op.operand(0)->shape(), &out = op.result()->shape();
  for (int r = 0; r < out.rank(); ++r) {
    int f = t.factor('p', out.dim(r).bound());
    t.result(0, r, f);
    auto it = std::find(dims.begin(), dims.end(), r);
    int d = static_cast<int>(it - dims.begin());
    if (it != dims.end() && in.dim(d) == out.dim(r)) t.operand(0, d, f);
  }
  return t.take();
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  const Ints& dims = dims_of(op);
  const Shape& in = op.operand(0)->shape();
  std::vector<loop::Index> from;
  for (int d = 0; d < in.rank(); ++d)
    from.push_back(in[d] == 1 ? loop::Index(0)
                              : index[static_cast<std::size_t>(dims[static_cast<std::size_t>(d)])]);
  return c.operand(op, 0, from);
}

}  // namespace

const OpDef& broadcast_in_dim_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.broadcast_in_dim",
               .text = &ir::formats::broadcast_in_dim,
               .verify = verify,
               .quantized = quantized::broadcast},
      .summary = "repeats an array along new or stretched dimensions (spec: broadcast_in_dim)",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = move_cost,
      .lowering = Elementwise{element},
  };
  return def;
}

}  // namespace strata::op
