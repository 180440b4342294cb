#include "strata/pass/data_movement/scatter_to_select.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/index/indexing.h"
#include "strata/op/index/scatter.h"
#include "strata/op/kind.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;

/// The scalar that every element is, or null.
Value* spread_scalar(const Value* v) {
  const Op* op = v->op();
  return op && op::kind::broadcast_in_dim(op) && op->operand(0)->rank() == 0 ? op->operand(0)
                                                                             : nullptr;
}

ir::Values selection(Builder& b, const Op& op) {
  if (!op::kind::scatter(op) || op::scatter_inputs(op) != 1 || op.operands.size() != 3 ||
      op::assigns(op))
    return {};
  if (op::combiner_of(op) != op::Combiner::add || is_bool(op.result()->dtype())) return {};
  Value *operand = op.operand(0), *indices = op::scatter_indices(op),
        *updates = op::scatter_updates(op), *scalar = spread_scalar(operand);
  const Shape& shape = operand->shape();
  if (!scalar || updates->dtype() != operand->dtype() || !shape.is_static() ||
      !indices->shape().is_static())
    return {};
  op::IndexDims dims = op::scatter_dims(op.attrs);
  // One dimension is looked for in each row, where it is dropped or a window of one; all others go
  // along.
  if (dims.index_map.size() != 1 || dims.dropped.size() + dims.window.size() != 1) return {};
  if (dims.operand_batch.size() + 1 != static_cast<std::size_t>(shape.rank()) ||
      !std::is_sorted(dims.indices_batch.begin(), dims.indices_batch.end()) ||
      !std::is_sorted(dims.operand_batch.begin(), dims.operand_batch.end()))
    return {};
  const auto d = static_cast<int>(dims.index_map[0]);
  if (shape[d] == 0 || shape[d] > INT32_MAX || updates->shape().count() * shape[d] != shape.count())
    return {};

  std::vector<Dim> rows;
  for (std::int64_t at : dims.operand_batch) rows.push_back(shape.dim(static_cast<int>(at)));
  const DType counts = indices->dtype() == DType::i32 ? DType::i32 : DType::i64;
  Value* index = op::convert(b, op::reshape(b, indices, Shape(rows)), counts);
  Value* sum = op::add(b, op::broadcast_in_dim(b, scalar, Shape(rows), {}),
                       op::reshape(b, updates, Shape(rows)));
  Value* here = op::compare(b, op::iota(b, Type(counts, shape), d),
                            op::broadcast_in_dim(b, index, shape, dims.operand_batch), "EQ");
  return {op::select(b, here, op::broadcast_in_dim(b, sum, shape, dims.operand_batch), operand)};
}

}  // namespace

bool convert_scatter_to_select(Block& block) { return rewrite(block, selection); }

}  // namespace strata::pass
