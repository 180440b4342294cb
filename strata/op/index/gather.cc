// stablehlo.gather: slices of an array at positions given by an array of indices.
//
// Contract (StableHLO, gather): operands [operand, start_indices]; attributes `offset_dims`,
// `collapsed_slice_dims`, `operand_batching_dims`, `start_indices_batching_dims`,
// `start_index_map`, `index_vector_dim`, `slice_sizes`, `indices_are_sorted`. (C1-C8, C10, C11,
// C13-C19) the numbers fit the types (indexing.h); (C9, C12) collapsed and batching dimensions have
// slices of at most 1; (C20, C21) 0 <= slice_sizes <= shape(operand), one per dimension; (C22) the
// result has the slice sizes of the remaining dimensions at `offset_dims` and the indices' shape
// without the index vector elsewhere. Starts are clamped so that the slices are inside.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/index/indexing.h"
#include "strata/op/quantized/quantized.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("gather", operands, 2);
  const Type &operand = operands[0]->type(), &indices = operands[1]->type();
  IndexDims d = gather_dims(attrs);
  const Ints& sizes = expect_attr<Ints>("gather", attrs, "slice_sizes");
  std::vector<Dim> outer = d.index_vector >= 0 && d.index_vector <= indices.rank()
                               ? outer_sizes(d, indices)
                               : std::vector<Dim>{};
  int rank = static_cast<int>(outer.size() + d.window.size());
  expect_index_dims("gather", d, operand, indices, rank);
  expect_length("gather", "slice_sizes (C20)", sizes, operand.rank());
  for (int i = 0; i < operand.rank(); ++i) {
    const Dim& dim = operand.shape().dim(i);
    std::int64_t size = sizes[static_cast<std::size_t>(i)];
    if (size < 0 || (dim.is_static() && size > dim.size()))  // C21
      throw Error("gather", "slice size {} does not fit dimension {} of {} (C21)", size, i,
                  operand.to_string());
  }
  for (const Ints* list : {&d.dropped, &d.operand_batch})
    for (std::int64_t i : *list)
      if (std::int64_t size = sizes[static_cast<std::size_t>(i)]; size > 1)
        throw Error("gather",
                    "dimension {} of {} is {}, so its slice size must be at most 1, got {} ({})", i,
                    operand.to_string(), list == &d.dropped ? "collapsed" : "batching", size,
                    list == &d.dropped ? "C9" : "C12");
  std::vector<Dim> dims(static_cast<std::size_t>(rank), Dim(0));  // C22
  Ints windowed = d.windowed(operand.rank()), outer_dims = d.outer(rank);
  for (std::size_t i = 0; i < windowed.size(); ++i)
    dims[static_cast<std::size_t>(d.window[i])] = Dim(sizes[static_cast<std::size_t>(windowed[i])]);
  for (std::size_t i = 0; i < outer.size(); ++i)
    dims[static_cast<std::size_t>(outer_dims[i])] = outer[i];
  return {operand.with(Shape(std::move(dims)))};
}

/// Room for the start in operand dimension d.
std::int64_t slack(const Op& op, std::int64_t d) {
  return op.operand(0)->shape()[static_cast<int>(d)] -
         op.attr<Ints>("slice_sizes")[static_cast<std::size_t>(d)];
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  IndexDims d = gather_dims(op.attrs);
  const Literal &operand = operands[0], &indices = operands[1];
  std::vector<std::int64_t> strides = operand.shape().strides(),
                            index_strides = indices.shape().strides();
  Ints outer_dims = d.outer(op.result()->rank());
  return {moved(operand, op.result()->type(), [&](std::span<const std::int64_t> index) {
    auto outer = picked(index, outer_dims), window = picked(index, d.window);
    auto at = window_position<std::int64_t>(d, operand.type().rank(), outer, window);
    for (std::size_t c = 0; c < d.index_map.size(); ++c) {
      auto from = index_position<std::int64_t>(d, indices.type().rank(), outer,
                                               static_cast<std::int64_t>(c));
      at[static_cast<std::size_t>(d.index_map[c])] +=
          clamped_start(indices, linear_index(from, index_strides), slack(op, d.index_map[c]));
    }
    return linear_index(at, strides);
  })};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* result = again(b, op, operands).result();
  if (tangents[0] == nullptr) return {{result}, {nullptr}};
  Values moved{tangents[0], operands[1]};
  return {{result}, {again(b, op, moved).result()}};
}

/// One bound per index component, spread over the indices' shape.
Value* bounds(Builder& b, const Op& op, const IndexDims& d, Value* indices) {
  Values entries;
  for (std::int64_t dim : d.index_map)
    entries.push_back(reshape(b, start_bound(b, indices->dtype(), slack(op, dim)), Shape{1}));
  if (d.index_vector < indices->rank())
    return broadcast_in_dim(b, concatenate(b, entries, 0), indices->shape(), {d.index_vector});
  return broadcast_in_dim(b, reshape(b, entries[0], Shape{}), indices->shape(), {});
}

/// The slices' cotangents added up where they came from. A scatter drops what a gather would clamp,
/// so starts are clamped.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>&, std::span<Value* const> cotangents) {
  if (cotangents[0] == nullptr) return {nullptr, nullptr};
  IndexDims d = gather_dims(op.attrs);
  Value* indices = operands[1];
  if (!d.index_map.empty())
    indices = clamp(b, zeros_like(b, indices), indices, bounds(b, op, d, indices));
  return {scatter(b, zeros(b, op.operand(0)->type()), indices, cotangents[0], d, "add", false),
          nullptr};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  if (!batched[0] && !batched[1]) return {again(b, op, operands).results(), {false}};
  Ints sizes = op.attr<Ints>("slice_sizes");
  if (batched[0]) sizes = prepended(batched[1] ? std::min<std::int64_t>(size, 1) : size, sizes);
  return {{gather(b, operands[0], operands[1],
                  with_batch(gather_dims(op.attrs), batched[0], batched[1]), sizes)},
          {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  IndexDims d = gather_dims(op.attrs);
  const Shape &operand = op.operand(0)->shape(), &indices = op.operand(1)->shape();
  Ints outer_dims = d.outer(op.result()->rank()), windowed = d.windowed(operand.rank());
  std::vector<int> of_indices(static_cast<std::size_t>(indices.rank()), -1);
  for (int i = 0; i < indices.rank(); ++i) {
    bool vector = i == d.index_vector;
    int f = t.factor(vector ? 'n' : 'p', indices.dim(i).bound());
    of_indices[static_cast<std::size_t>(i)] = f;
    t.operand(1, i, f);
    if (!vector)
      t.result(0, static_cast<int>(outer_dims[static_cast<std::size_t>(d.outer_of(i))]), f);
  }
  for (std::size_t i = 0; i < d.operand_batch.size(); ++i)
    t.operand(0, static_cast<int>(d.operand_batch[i]),
              of_indices[static_cast<std::size_t>(d.indices_batch[i])]);
  for (std::int64_t i : d.dropped)
    t.operand(0, static_cast<int>(i), t.factor('n', operand.dim(static_cast<int>(i)).bound()));
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    int dim = static_cast<int>(windowed[i]), to = static_cast<int>(d.window[i]);
    share_if_whole(
        t, operand.dim(dim), op.result()->shape().dim(to), [&](int f) { t.operand(0, dim, f); },
        [&](int f) { t.result(0, to, f); });
  }
  return t.take();
}

Work cost(const Op& op) {
  double moved = 2 * elements(op) * static_cast<double>(byte_width(op.result()->dtype()));
  return {0, moved + static_cast<double>(op.operand(1)->type().bytes())};
}

loop::Inst* element(LowerContext& context, const Op& op, int, std::span<const loop::Index> index) {
  IndexDims d = gather_dims(op.attrs);
  auto outer = picked(index, d.outer(op.result()->rank())), window = picked(index, d.window);
  auto at = window_position<loop::Index>(d, op.operand(0)->rank(), outer, window);
  for (std::size_t c = 0; c < d.index_map.size(); ++c) {
    std::int64_t high = slack(op, d.index_map[c]);
    if (high == 0) continue;
    auto from =
        index_position<loop::Index>(d, op.operand(1)->rank(), outer, static_cast<std::int64_t>(c));
    loop::Index& to = at[static_cast<std::size_t>(d.index_map[c])];
    to = to + lower_clamped_start(context.b, context.operand(op, 1, from), high);
  }
  return context.operand(op, 0, at);
}

}  // namespace

const OpDef& gather_def() {
  static const OpDef d{
      .info = ir::inferred_by("C22, C23", {.name = "stablehlo.gather",
                                           .infer = infer,
                                           .text = &ir::formats::gather,
                                           .quantized = quantized::moved}),
      .summary = "slices at positions given by an array of indices (StableHLO, gather)",
      .traits = {.moves_only = true},
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

Value* gather(Builder& b, Value* operand, Value* indices, const IndexDims& dims,
              const Ints& slice_sizes) {
  Attrs attrs;
  set_gather_dims(attrs, dims);
  attrs.set("slice_sizes", slice_sizes).set("indices_are_sorted", false);
  return b.create(gather_def().info, {operand, indices}, std::move(attrs)).result();
}

}  // namespace strata::op
