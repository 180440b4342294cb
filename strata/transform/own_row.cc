#include "strata/transform/own_row.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/indexing.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/scatter.h"
#include "strata/transform/rewrite.h"

namespace strata::transform {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;
using op::IndexDims;

/// Numbers that are evaluated to see whether they are positions, and operations that make them: this must cost nothing.
constexpr std::int64_t kMostNumbers = 1 << 18;
constexpr int kMostOps = 24;

/// A copy of what makes a value where that is known now, or false. The copy's value is in the map.
bool copy_known(Builder& b, const Value* v, ir::ValueMap& map, int& left) {
  if (map.find(v)) return true;
  const Op* op = v->op();
  if (!op || --left < 0 || op->info().has_effect || !op->regions.empty() || op->num_results() != 1) return false;
  if (!v->type().is_tensor() || !v->shape().is_static() || v->shape().count() > kMostNumbers) return false;
  if (!op::is_elemental(*op) && !op->attrs.has("value")) return false;
  for (const Value* operand : op->operands)
    if (!copy_known(b, operand, map, left)) return false;
  ir::clone(b, *op, map);
  return true;
}

/// The numbers of a value, where they are known.
std::optional<Literal> known(const Value* v) {
  Block block;
  Builder b(block);
  ir::ValueMap map;
  int left = kMostOps;
  if (!copy_known(b, v, map, left)) return {};
  block.results = {map(const_cast<Value*>(v))};
  return op::evaluate(block, {})[0];
}

/// The dimension along which numbers say their own position, or -1.
int position_dim(const Literal& numbers) {
  const Shape& shape = numbers.shape();
  std::vector<std::int64_t> strides = shape.strides();
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] < 2) continue;
    const std::int64_t stride = strides[static_cast<std::size_t>(d)];
    std::int64_t i = 0;
    while (i < shape.count() && numbers.integer(i) == i / stride % shape[d]) ++i;
    if (i == shape.count()) return d;
  }
  return -1;
}

/// The dimension of the indices along which component c says its own position, or -1.
int position_dim(const IndexDims& dims, const Value* indices, std::size_t c) {
  const Op* op = indices->op();
  if (!op || op->name() != "stablehlo.concatenate" || op->attr<std::int64_t>("dimension") != dims.index_vector) return -1;
  if (op->operands.size() != dims.index_map.size()) return -1;  // each gives one component
  std::optional<Literal> numbers = known(op->operands[c]);
  return numbers ? position_dim(*numbers) : -1;
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

/// Takes components out while there is one that says its own position and another remains. The indices that are left, or null.
Value* without_positions(Builder& b, const Shape& operand, Value* indices, IndexDims& dims) {
  if (!operand.is_static() || !indices->shape().is_static()) return nullptr;
  Values parts;
  if (indices->op()) parts = Values(indices->op()->operands);
  bool found = false;
  for (std::size_t c = 0; c < dims.index_map.size() && dims.index_map.size() > 1;) {
    const std::int64_t d = dims.index_map[c];
    const int k = position_dim(dims, indices, c);
    auto is_in = [](const Ints& list, std::int64_t i) { return std::find(list.begin(), list.end(), i) != list.end(); };
    if (k < 0 || indices->shape()[k] != operand[static_cast<int>(d)] || is_in(dims.indices_batch, k) || !is_in(dims.dropped, d)) {
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
  if (op.name() == "stablehlo.gather") {
    IndexDims dims = op::gather_dims(op.attrs);
    Value* indices = without_positions(b, op.operand(0)->shape(), op.operand(1), dims);
    return indices ? Values{op::gather(b, op.operand(0), indices, dims, op.attr<Ints>("slice_sizes"))} : Values();
  }
  if (op.name() != "stablehlo.scatter") return {};
  IndexDims dims = op::scatter_dims(op.attrs);
  Value* indices = without_positions(b, op.operand(0)->shape(), op::scatter_indices(op), dims);
  if (!indices) return {};
  Values operands(op.operands);
  operands[static_cast<std::size_t>(op::scatter_inputs(op))] = indices;
  ir::Attrs attrs = op.attrs;
  op::set_scatter_dims(attrs, dims);
  attrs.set("indices_are_sorted", false);
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : op.regions) regions.push_back(ir::clone(*region));
  return b.create(op.info(), operands, std::move(attrs), std::move(regions)).results();
}

}  // namespace

bool find_own_rows(Block& block) { return rewrite(block, along_rows); }

}  // namespace strata::transform
