// concatenate: operands one after another along `dimension`.
//
// Contract (spec: concatenate): operands of (C1) one element type and (C2) one shape but along
// `dimension`; (C3) at least one; (C4) dimension is within them; the result has (C5) their
// element type and (C6) their shape, sizes along `dimension` added.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::size_t dim_of(const Op& op) {
  return static_cast<std::size_t>(op.attr<std::int64_t>("dimension"));
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "concatenate";
  if (operands.empty())
    throw Error(self, "expected at least one operand, got {} (C3)", operands.size());
  for (const Value* v : operands)
    if (!v->type().is_tensor())
      throw Error(self, "operands must be arrays, got {} (I1)", v->type().to_string());
  std::int64_t dim = expect_attr<std::int64_t>(self, attrs, "dimension");
  const Type& first = operands[0]->type();
  if (dim < 0 || dim >= first.rank())
    throw Error(self, "dimension {} is outside of {} (C4)", dim, first.to_string());
  std::vector<Dim> dims = first.shape().dims();
  Dim& along = dims[static_cast<std::size_t>(dim)];
  for (Value* v : operands.subspan(1)) {
    const Type& type = v->type();
    if (type.dtype() != first.dtype())
      throw Error(self, "operands must have one element type, got {} and {} (C1)",
                  first.to_string(), type.to_string());
    bool fits = type.rank() == first.rank();
    for (int d = 0; fits && d < type.rank(); ++d)
      fits = d == dim || may_equal(type.shape().dim(d), first.shape().dim(d));
    if (!fits)
      throw Error(self, "operands must agree except along dimension {}, got {} and {} (C2)", dim,
                  first.to_string(), type.to_string());
    const Dim& more = type.shape().dim(static_cast<int>(dim));
    std::int64_t most = along.bound() >= 0 && more.bound() >= 0 ? along.bound() + more.bound() : -1;
    along = along.is_static() && more.is_static() ? Dim(most)
            : most >= 0                           ? Dim::bounded(most)
                                                  : Dim::unknown();
    for (int d = 0; d < type.rank(); ++d)
      if (d != dim)
        dims[static_cast<std::size_t>(d)] =
            merged(dims[static_cast<std::size_t>(d)], type.shape().dim(d));
  }
  return {first.with(Shape(std::move(dims)))};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  std::vector<std::int64_t> strides = out.shape().strides();
  std::int64_t offset = 0;
  for (const Literal& x : operands) {
    for_each_index(x.shape(), [&](std::span<const std::int64_t> index, std::int64_t from) {
      copy_element(x, from, out, linear_index(index, strides) + offset * strides[dim_of(op)]);
    });
    offset += x.shape()[static_cast<int>(dim_of(op))];
  }
  return {std::move(out)};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  Values out;
  std::int64_t offset = 0;
  int dim = static_cast<int>(dim_of(op));
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    std::int64_t size = op.operands[i]->shape()[dim];
    out.push_back(ct[0] && linear[i] ? slice_dim(b, ct[0], dim, offset, offset + size) : nullptr);
    offset += size;
  }
  return out;
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  Values full;
  for (std::size_t i = 0; i < operands.size(); ++i)
    full.push_back(batched_operand(b, operands[i], batched[i], size));
  return {{concatenate(b, full, static_cast<int>(dim_of(op)) + 1)}, {true}};
}

Factors shard(const Op& op) {
  Factors out = pointwise_factors(op);
  out.kinds[dim_of(op)] = 'm';
  return out;
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  std::vector<loop::Index> from(index.begin(), index.end());
  loop::Index along = index[dim_of(op)];
  loop::Inst* chosen = c.b.constant_bits(op.result()->dtype(), 0);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    std::int64_t size = op.operands[i]->shape()[static_cast<int>(dim_of(op))];
    if (size == 0) continue;
    from[dim_of(op)] = along - loop::Index(offset);
    loop::Inst* inside[] = {c.b.less(offset - 1, along), c.b.less(along, offset + size)};
    chosen = c.b.guarded(
        all_of(c.b, inside), [&] { return c.operand(op, static_cast<int>(i), from); }, chosen);
    offset += size;
  }
  return chosen;
}

}  // namespace

const OpDef& concatenate_def() {
  static const OpDef def{
      .info = ir::inferred_by("C5, C6",
                              {.name = "stablehlo.concatenate",
                               .infer = infer,
                               .text = &ir::formats::concatenate,
                               .quantized = quantized::moved},
                              "C1"),
      .summary = "joins arrays along a dimension (spec: concatenate)",
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
