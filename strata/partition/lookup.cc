#include "strata/partition/lookup.h"

#include <algorithm>

namespace strata::spmd {

using ir::Ints;
using op::Builder;
using op::Value;

std::optional<Lookup> lookup_of(const op::Op& op) {
  bool is_gather = op.name() == "stablehlo.gather";
  if (!is_gather && (op.name() != "stablehlo.scatter" || op.operands.size() != 3))
    return std::nullopt;
  Lookup out{0, is_gather, is_gather ? op::gather_dims(op.attrs) : op::scatter_dims(op.attrs)};
  if (out.dims.index_map.size() != 1) return std::nullopt;
  std::int64_t dim = out.dims.index_map[0];
  if (std::count(out.dims.dropped.begin(), out.dims.dropped.end(), dim) == 0) return std::nullopt;
  DType dtype = op.result()->dtype();
  if (is_gather && (is_complex(dtype) || !has_storage(dtype))) return std::nullopt;
  out.dim = static_cast<int>(dim);
  // Rows of which a slice of no element is taken are on no device.
  if (is_gather && op.attr<Ints>("slice_sizes")[static_cast<std::size_t>(dim)] != 1)
    return std::nullopt;
  return out;
}

LocalIndices local_indices(Builder& b, Emitter& emit, const Grid& grid, Value* indices,
                           std::int64_t size, const Axes& owners, bool is_gather) {
  std::int64_t part = (size + grid.product(owners) - 1) / grid.product(owners);
  DType dtype = indices->dtype() == DType::i32 ? DType::i32 : DType::i64;
  auto spread = [&](Value* scalar) {
    return op::broadcast_in_dim(b, op::convert(b, scalar, dtype), indices->shape(), {});
  };
  Value* at = op::convert(b, indices, dtype);
  if (is_gather)
    at = op::clamp(b, op::scalar(b, dtype, 0), at,
                   op::scalar(b, dtype, static_cast<double>(size - 1)));
  at = op::sub(b, at, spread(emit.tile_begin(b, owners, part)));
  if (!is_gather) return {at, nullptr};
  Value* zero = spread(op::scalar(b, dtype, 0));
  Value* end = spread(op::scalar(b, dtype, static_cast<double>(part)));
  return {at, op::and_(b, op::compare(b, at, zero, "GE"), op::compare(b, at, end, "LT"))};
}

Value* rows_inside(Builder& b, Value* rows, Value* inside, const Lookup& lookup) {
  std::vector<std::int64_t> sizes = inside->shape().sizes();
  if (lookup.dims.index_vector < inside->rank()) {
    sizes.erase(sizes.begin() + lookup.dims.index_vector);
    inside = op::reshape(b, inside, Shape::of(sizes));
  }
  Value* all = op::broadcast_in_dim(b, inside, rows->shape(), lookup.dims.outer(rows->rank()));
  Value* nothing = op::constant(b, Literal::full(Type::scalar(rows->dtype()), -0.0));
  return op::select(b, all, rows, op::broadcast_in_dim(b, nothing, rows->shape(), {}));
}

}  // namespace strata::spmd
