// stablehlo.dynamic_slice: a window of static size at a position known at run time.
//
// Contract (StableHLO, dynamic_slice): operands [x, starts...], attribute `slice_sizes`.
//   (C2) one start per dimension, (C3) scalars of one integer dtype; (C4) 0 <= slice_sizes <=
//   shape(x).
// Starts are clamped so that the window is inside.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/index/indexing.h"
#include "strata/op/quantized/quantized.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  if (operands.empty()) throw Error("dynamic_slice", "expected an array, got no operand");
  if (!operands[0]->type().is_tensor())
    throw Error("dynamic_slice", "operands must be arrays, got {} (I1)",
                operands[0]->type().to_string());
  const Type& x = operands[0]->type();
  const Ints& sizes = expect_attr<Ints>("dynamic_slice", attrs, "slice_sizes");
  expect_starts("dynamic_slice", operands.subspan(1), x.rank(),
                {.count = "C2", .types = "C3", .input = "I2"});
  expect_length("dynamic_slice", "slice_sizes (C2)", sizes, x.rank());
  for (int d = 0; d < x.rank(); ++d) {
    const Dim& dim = x.shape().dim(d);
    std::int64_t size = sizes[static_cast<std::size_t>(d)];
    if (size < 0 || (dim.is_static() && size > dim.size()))
      throw Error("dynamic_slice", "slice size {} does not fit dimension {} of {} (C4)", size, d,
                  x.to_string());
  }
  return {x.with(Shape::of(sizes))};
}

/// Room for the start of dimension d.
std::int64_t slack(const Op& op, int d) {
  return op.operand(0)->shape()[d] - op.result()->shape()[d];
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  std::vector<std::int64_t> strides = operands[0].shape().strides();
  std::int64_t first = 0;
  for (std::size_t d = 0; d < strides.size(); ++d)
    first += strides[d] * clamped_start(operands[d + 1], 0, slack(op, static_cast<int>(d)));
  return {moved(operands[0], op.result()->type(), [&](std::span<const std::int64_t> index) {
    return first + linear_index(index, strides);
  })};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* result = again(b, op, operands).result();
  if (tangents[0] == nullptr) return {{result}, {nullptr}};
  Values moved(operands.begin(), operands.end());
  moved[0] = tangents[0];
  return {{result}, {again(b, op, moved).result()}};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>&, std::span<Value* const> cotangents) {
  Values out(operands.size(), nullptr);
  if (cotangents[0] != nullptr)
    out[0] = dynamic_update_slice(b, zeros(b, op.operand(0)->type()), cotangents[0],
                                  Values(operands.begin() + 1, operands.end()));
  return out;
}

/// Starts of its own for each example: a gather of one slice each.
Value* batch_by_gather(Builder& b, const Op& op, std::span<Value* const> operands,
                       const std::vector<bool>& batched, std::int64_t size) {
  Value* starts = stack_starts(b, operands.subspan(1),
                               std::vector<bool>(batched.begin() + 1, batched.end()), size);
  IndexDims dims;  // for one example: no outer dimensions, every dimension a window
  for (int d = 0; d < op.result()->rank(); ++d) {
    dims.window.push_back(d);
    dims.index_map.push_back(d);
  }
  Ints sizes = op.attr<Ints>("slice_sizes");
  if (batched[0]) sizes = prepended(std::min<std::int64_t>(size, 1), sizes);
  return gather(b, operands[0], starts, with_batch(dims, batched[0], true), sizes);
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  if (std::find(batched.begin() + 1, batched.end(), true) != batched.end())
    return {{batch_by_gather(b, op, operands, batched, size)}, {true}};
  if (!batched[0]) return {again(b, op, operands).results(), {false}};
  Values starts(operands.begin() + 1, operands.end());
  starts.insert(starts.begin(), scalar(b, starts.empty() ? DType::i32 : starts[0]->dtype(), 0));
  return {{dynamic_slice(b, operands[0], starts, prepended(size, op.attr<Ints>("slice_sizes")))},
          {true}};
}

/// Dimensions that are taken whole pass through; the others are needed as a whole.
Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d < op.result()->rank(); ++d)
    share_if_whole(
        t, op.operand(0)->shape().dim(d), op.result()->shape().dim(d),
        [&](int f) { t.operand(0, d, f); }, [&](int f) { t.result(0, d, f); });
  return t.take();
}

Work cost(const Op& op) {
  return {0, 2 * elements(op) * static_cast<double>(byte_width(op.result()->dtype()))};
}

loop::Inst* element(LowerContext& context, const Op& op, int, std::span<const loop::Index> index) {
  std::vector<loop::Index> at(index.begin(), index.end());
  for (std::size_t d = 0; d < at.size(); ++d) {
    std::int64_t high = slack(op, static_cast<int>(d));
    if (high > 0)
      at[d] = at[d] + lower_clamped_start(context.b,
                                          context.operand(op, static_cast<int>(d) + 1, {}), high);
  }
  return context.operand(op, 0, at);
}

}  // namespace

const OpDef& dynamic_slice_def() {
  static const OpDef d{
      .info = ir::inferred_by("C1, C5", {.name = "stablehlo.dynamic_slice",
                                         .infer = infer,
                                         .text = &ir::formats::dynamic_slice,
                                         .quantized = quantized::moved}),
      .summary = "a window of static size at a run-time position (StableHLO, dynamic_slice)",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Elementwise{element},
  };
  return d;
}

Value* dynamic_slice(Builder& b, Value* x, const Values& starts, const Ints& sizes) {
  Values operands{x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return b.create(dynamic_slice_def().info, std::move(operands), {{"slice_sizes", sizes}}).result();
}

}  // namespace strata::op
