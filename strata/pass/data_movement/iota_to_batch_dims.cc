#include "strata/pass/data_movement/iota_to_batch_dims.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/index/indexing.h"
#include "strata/op/index/scatter.h"
#include "strata/op/kind.h"
#include "strata/pass/affine.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;
using op::IndexDims;

/// How many operations are looked through for one component.
constexpr int kMostSteps = 24;

/// The dimension along which a value's numbers say their own position, or -1.
int position_dim(const Value* v) {
  int steps = kMostSteps, found = -1;
  const std::optional<Affine> numbers = affine(v, steps);
  if (!numbers || numbers->constant != 0) return -1;
  for (std::size_t d = 0; d < numbers->factors.size(); ++d) {
    if (numbers->factors[d] == 0) continue;
    if (numbers->factors[d] != 1 || found >= 0) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

/// The dimension of the indices along which component c says its own position, or -1.
int position_dim(const IndexDims& dims, const Value* indices, std::size_t c) {
  const Op* op = indices->op();
  if (!op || !op::kind::concatenate(op) || op->attr<std::int64_t>("dimension") != dims.index_vector)
    return -1;
  if (op->operands.size() != dims.index_map.size()) return -1;  // each gives one component
  return position_dim(op->operands[c]);
}

/// Component c is no longer looked up: its dimension goes along with dimension k of the indices.
void take_along(IndexDims& dims, std::size_t c, int k) {
  const std::int64_t d = dims.index_map[c];
  dims.index_map.erase(dims.index_map.begin() + static_cast<std::ptrdiff_t>(c));
  dims.dropped.erase(std::find(dims.dropped.begin(), dims.dropped.end(), d));
  auto at = std::lower_bound(dims.operand_batch.begin(), dims.operand_batch.end(), d);
  dims.indices_batch.insert(dims.indices_batch.begin() + (at - dims.operand_batch.begin()), k);
  dims.operand_batch.insert(at, d);
}

/// Takes components out while there is one that says its own position and another remains. The
/// indices that are left, or null.
Value* without_positions(Builder& b, const Shape& operand, Value* indices, IndexDims& dims) {
  if (!operand.is_static() || !indices->shape().is_static()) return nullptr;
  Values parts;
  if (indices->op()) parts = Values(indices->op()->operands);
  bool found = false;
  for (std::size_t c = 0; c < dims.index_map.size() && dims.index_map.size() > 1;) {
    const std::int64_t d = dims.index_map[c];
    const int k = position_dim(dims, indices, c);
    auto is_in = [](const Ints& list, std::int64_t i) {
      return std::find(list.begin(), list.end(), i) != list.end();
    };
    if (k < 0 || indices->shape()[k] != operand[static_cast<int>(d)] ||
        is_in(dims.indices_batch, k) || !is_in(dims.dropped, d)) {
      ++c;
      continue;
    }
    take_along(dims, c, k);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(c));
    indices = op::concatenate(b, parts, static_cast<int>(dims.index_vector));
    found = true;
  }
  return found ? indices : nullptr;
}

Values along_rows(Builder& b, const Op& op) {
  if (op::kind::gather(op)) {
    IndexDims dims = op::gather_dims(op.attrs);
    Value* indices = without_positions(b, op.operand(0)->shape(), op.operand(1), dims);
    return indices
               ? Values{op::gather(b, op.operand(0), indices, dims, op.attr<Ints>("slice_sizes"))}
               : Values();
  }
  if (!op::kind::scatter(op)) return {};
  IndexDims dims = op::scatter_dims(op.attrs);
  Value* indices = without_positions(b, op.operand(0)->shape(), op::scatter_indices(op), dims);
  if (!indices) return {};
  Values operands(op.operands);
  operands[static_cast<std::size_t>(op::scatter_inputs(op))] = indices;
  Op& along = op::scatter_again(b, op, std::move(operands), dims);
  along.attrs.set("indices_are_sorted", false);
  return along.results();
}

}  // namespace

bool convert_iota_indices_to_batch_dims(Block& block) { return rewrite(block, along_rows); }

}  // namespace strata::pass
