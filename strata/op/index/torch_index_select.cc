// stablehlo.torch_index_select: slices of one dimension at given positions, a deprecated spelling
// of gather.
//
// Contract (StableHLO, torch_index_select): operands operand, index (integers); attributes `dim`
// and `batch_dims`, with 0 <= batch_dims <= dim < rank(operand) and batch_dims <= rank(index); the
// first `batch_dims` dimensions of the two agree. The result has operand's dimensions before `dim`,
// index's after the batch ones, and operand's after `dim`. Positions are clamped, as gather's.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/index/indexing.h"
#include "strata/op/legalize.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "torch_index_select";

std::int64_t dim_of(const Op& op) { return op.attr<std::int64_t>("dim"); }
std::int64_t batch_of(const Op& op) { return op.attr<std::int64_t>("batch_dims"); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 2);
  const Type &x = operands[0]->type(), &index = operands[1]->type();
  if (!is_integer(index.dtype()))
    throw Error(kSelf, "positions must be integers, got {}", index.to_string());
  std::int64_t dim = expect_attr<std::int64_t>(kSelf, attrs, "dim"),
               batch = expect_attr<std::int64_t>(kSelf, attrs, "batch_dims");
  if (dim < 0 || dim >= x.rank())
    throw Error(kSelf, "dim {} is out of range for {}", dim, x.to_string());
  if (batch < 0 || batch > dim || batch > index.rank())
    throw Error(kSelf, "batch_dims {} must be at most dim {} and the rank of {}", batch, dim,
                index.to_string());
  std::vector<Dim> dims;
  for (int d = 0; d < dim; ++d) {
    if (d < batch && !may_equal(x.shape().dim(d), index.shape().dim(d)))
      throw Error(kSelf, "batch dimension {} of {} and {} differ in size", d, x.to_string(),
                  index.to_string());
    dims.push_back(x.shape().dim(d));
  }
  for (int d = static_cast<int>(batch); d < index.rank(); ++d) dims.push_back(index.shape().dim(d));
  for (int d = static_cast<int>(dim) + 1; d < x.rank(); ++d) dims.push_back(x.shape().dim(d));
  return {x.with(Shape(std::move(dims)))};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value *x = operands[0], *index = operands[1];
  std::int64_t dim = dim_of(op), batch = batch_of(op), inserted = index->rank() - batch;
  IndexDims d{.window = {},
              .dropped = {dim},
              .operand_batch = {},
              .indices_batch = {},
              .index_map = {dim},
              .index_vector = index->rank()};
  Ints sizes = x->shape().sizes();
  for (std::int64_t i = 0; i < x->rank(); ++i) {
    if (i < batch) {
      d.operand_batch.push_back(i);
      d.indices_batch.push_back(i);
      sizes[static_cast<std::size_t>(i)] =
          std::min<std::int64_t>(sizes[static_cast<std::size_t>(i)], 1);
    } else if (i != dim) {
      d.window.push_back(i < dim ? i : i - 1 + inserted);
    }
  }
  std::int64_t& taken = sizes[static_cast<std::size_t>(dim)];
  if (taken == 0) return {zeros(b, op.result()->type())};  // nothing to read
  taken = 1;
  return {gather(b, x, index, d, sizes)};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  int dim = static_cast<int>(dim_of(op)), batch = static_cast<int>(batch_of(op));
  const Value *x = op.operand(0), *index = op.operand(1);
  for (int d = 0; d < dim; ++d) {
    int f = t.factor('p', x->shape().dim(d).bound());
    t.operand(0, d, f);
    if (d < batch) t.operand(1, d, f);
    t.result(0, d, f);
  }
  t.operand(0, dim, t.factor('n', x->shape().dim(dim).bound()));
  for (int d = batch; d < index->rank(); ++d) {
    int f = t.factor('p', index->shape().dim(d).bound());
    t.operand(1, d, f);
    t.result(0, dim + d - batch, f);
  }
  for (int d = dim + 1; d < x->rank(); ++d) {
    int f = t.factor('p', x->shape().dim(d).bound());
    t.operand(0, d, f);
    t.result(0, d - 1 + index->rank() - batch, f);
  }
  return t.take();
}

Work cost(const Op& op) {
  return {0, 2 * elements(op) * static_cast<double>(byte_width(op.result()->dtype())) +
                 static_cast<double>(op.operand(1)->type().bytes())};
}

}  // namespace

const OpDef& torch_index_select_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.torch_index_select",
               .infer = infer,
               .text = &ir::formats::torch_index_select},
      .summary =
          "slices of one dimension at given positions (StableHLO, torch_index_select; deprecated)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = jvp_decomposed,
      .linearize = None{"no regions"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = shard,
      .cost = cost,
      .lowering = None{"a gather (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
