// pad: `padding_value` before (edge_padding_low), after (edge_padding_high) and between
// (interior_padding) the elements; negative edges cut elements off, after the interior padding.
//
// Contract (spec: pad): operand, padding_value. (C1) Both and the result have one element type,
// padding_value is a scalar; (C2) each list has an entry per dimension; (C3) interior padding is
// not negative; (C4) sizes are low + (n - 1) interior + n + high.
#include <algorithm>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

const Ints& low_of(const Op& op) { return op.attr<Ints>("edge_padding_low"); }
const Ints& high_of(const Op& op) { return op.attr<Ints>("edge_padding_high"); }
const Ints& interior_of(const Op& op) { return op.attr<Ints>("interior_padding"); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "pad";
  expect_operands(self, operands, 2);
  const Type &in = operands[0]->type(), &value = operands[1]->type();
  if (value.rank() != 0 || value.dtype() != in.dtype())  // pad_c1
    throw Error(self, "padding value of {} must be a scalar of its dtype, got {} (C1)",
                in.to_string(), value.to_string());
  const Ints& low = expect_attr<Ints>(self, attrs, "edge_padding_low");
  const Ints& high = expect_attr<Ints>(self, attrs, "edge_padding_high");
  const Ints& interior = expect_attr<Ints>(self, attrs, "interior_padding");
  expect_length(self, "edge_padding_low (C2)", low, in.rank());
  expect_length(self, "edge_padding_high (C2)", high, in.rank());
  expect_length(self, "interior_padding (C2)", interior, in.rank());
  std::vector<Dim> dims;
  for (int d = 0; d < in.rank(); ++d) {
    auto i = static_cast<std::size_t>(d);
    if (interior[i] < 0)
      throw Error(self, "interior padding {} of dimension {} is negative (C3)", interior[i], d);
    const Dim& dim = in.shape().dim(d);
    if (!dim.is_static()) {
      dims.push_back(low[i] == 0 && high[i] == 0 && interior[i] == 0 ? dim : Dim::unknown());
      continue;
    }
    std::int64_t size = low[i] + dim.size() +
                        std::max<std::int64_t>(dim.size() - 1, 0) * interior[i] +
                        high[i];  // pad_c4
    if (size < 0)
      throw Error(self, "padding {} and {} leaves dimension {} of {} with size {} (C4)", low[i],
                  high[i], d, in.to_string(), size);
    dims.push_back(size);
  }
  return {in.with(Shape(std::move(dims)))};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  Literal out(op.result()->type());
  for (std::int64_t i = 0; i < out.count(); ++i) copy_element(operands[1], 0, out, i);
  std::vector<std::int64_t> strides = out.shape().strides();
  for_each_index(x.shape(), [&](std::span<const std::int64_t> index, std::int64_t from) {
    std::int64_t to = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      std::int64_t at = low_of(op)[d] + index[d] * (interior_of(op)[d] + 1);
      if (at < 0 || at >= out.shape()[static_cast<int>(d)]) return;
      to += at * strides[d];
    }
    copy_element(x, from, out, to);
  });
  return {std::move(out)};
}

/// The operand's cotangent: the padding taken off again (edges by negative padding, the interior by
/// a stride).
Value* unpadded(Builder& b, const Op& op, Value* ct) {
  const Shape& in = op.operand(0)->shape();
  Ints low, high, step;
  for (std::size_t d = 0; d < low_of(op).size(); ++d) {
    low.push_back(-low_of(op)[d]);
    high.push_back(-high_of(op)[d]);
    step.push_back(interior_of(op)[d] + 1);
  }
  if (in.count() == 0) return zeros(b, op.operand(0)->type());
  Value* cut = pad(b, ct, scalar(b, ct->dtype(), 0), low, high);
  return slice(b, cut, Ints(low.size(), 0), cut->shape().sizes(), step);
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr, nullptr};
  Value* of_operand = unpadded(b, op, ct[0]);
  Value* of_value = nullptr;
  if (linear[1]) {  // the padding's sum: of everything where the operand's elements are masked out
    Ints all;
    for (int d = 0; d < ct[0]->rank(); ++d) all.push_back(d);
    Value* inside = constant(b, op.operand(0)->type().with(DType::i1), 1);
    Value* mask = pad(b, inside, scalar(b, DType::i1, 0), low_of(op), high_of(op), interior_of(op));
    of_value = reduce_sum(b, select(b, mask, zeros_like(b, ct[0]), ct[0]), all);
  }
  return {linear[0] ? of_operand : nullptr, of_value};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  Ints low = prepended(0, low_of(op)), high = prepended(0, high_of(op)),
       interior = prepended(0, interior_of(op));
  Value* x = batched_operand(b, operands[0], batched[0], size);
  if (!batched[1]) return {{pad(b, x, operands[1], low, high, interior)}, {true}};
  // A padding value for each: pad with anything, then choose.
  Value* padded = pad(b, x, scalar(b, x->dtype(), 0), low, high, interior);
  Value* inside = constant(b, x->type().with(DType::i1), 1);
  Value* mask = pad(b, inside, scalar(b, DType::i1, 0), low, high, interior);
  return {{select(b, mask, padded, broadcast_in_dim(b, operands[1], padded->shape(), {0}))},
          {true}};
}

Factors shard(const Op& op) {
  Factors out = pointwise_factors(op);
  for (std::size_t d = 0; d < low_of(op).size(); ++d)
    if (low_of(op)[d] != 0 || high_of(op)[d] != 0 || interior_of(op)[d] != 0) out.kinds[d] = 'm';
  return out;
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  const Shape& in = op.operand(0)->shape();
  loop::Inst* value = c.operand(op, 1, {});
  if (in.count() == 0) return value;
  std::vector<loop::Index> from;
  std::vector<loop::Inst*> inside;
  for (std::size_t d = 0; d < index.size(); ++d) {
    std::int64_t size = in[static_cast<int>(d)], low = low_of(op)[d], step = interior_of(op)[d] + 1;
    loop::Index at = index[d] - loop::Index(low);
    if (step > 1) {  // a multiple of step is added so that div and mod see no negative index
      std::int64_t up = low > 0 ? (low + step - 1) / step : 0;
      loop::Index raised = at + loop::Index(up * step);
      inside.push_back(c.b.less(c.b.mod(raised, step), 1));
      at = c.b.div(raised, step) - loop::Index(up);
    }
    inside.push_back(c.b.less(-1, at));
    inside.push_back(c.b.less(at, size));
    from.push_back(at);
  }
  return c.b.guarded(all_of(c.b, inside), [&] { return c.operand(op, 0, from); }, value);
}

}  // namespace

const OpDef& pad_def() {
  static const OpDef def{
      .info = ir::inferred_by("C1, C4",
                              {.name = "stablehlo.pad",
                               .infer = infer,
                               .text = &ir::formats::pad,
                               .quantized = quantized::moved},
                              "C1"),
      .summary = "puts a value around and between elements, or cuts edges off (spec: pad)",
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
