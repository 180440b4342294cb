// Operations under the names of jax.lax: nothing is promoted or broadcast except C++ scalars.
#pragma once

#include <string>
#include <vector>

#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy.h"

namespace strata::lax {

struct DotDimensionNumbers {
  std::vector<std::int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};
/// Products summed over the contracting dimensions. Result dimensions: batch, left free, right free. The result has the
/// operands' dtype unless another one is preferred.
Array dot_general(const Operand& lhs, const Operand& rhs, const DotDimensionNumbers& dimensions, std::optional<DType> preferred = {});

struct GatherDimensionNumbers {
  std::vector<std::int64_t> offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims;
};
/// Slices of `operand` at `start_indices`, whose last dimension holds index vectors; starts are clamped.
Array gather(const Operand& operand, const Operand& start_indices, const GatherDimensionNumbers& dimensions, const Sizes& slice_sizes,
             bool indices_are_sorted = false);
struct ScatterDimensionNumbers {
  std::vector<std::int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, operand_batching_dims,
      scatter_indices_batching_dims;
};
struct ScatterOptions {
  bool indices_are_sorted = false, unique_indices = false;
};
/// `operand` with `updates` written (scatter) or combined at `indices`; updates out of bounds are dropped.
Array scatter(const Operand& operand, const Operand& indices, const Operand& updates, const ScatterDimensionNumbers& dimensions, ScatterOptions options = {});
Array scatter_add(const Operand& operand, const Operand& indices, const Operand& updates, const ScatterDimensionNumbers& dimensions, ScatterOptions options = {});
Array scatter_mul(const Operand& operand, const Operand& indices, const Operand& updates, const ScatterDimensionNumbers& dimensions, ScatterOptions options = {});
Array scatter_min(const Operand& operand, const Operand& indices, const Operand& updates, const ScatterDimensionNumbers& dimensions, ScatterOptions options = {});
Array scatter_max(const Operand& operand, const Operand& indices, const Operand& updates, const ScatterDimensionNumbers& dimensions, ScatterOptions options = {});

Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides = {});
/// [start, limit) along one axis; negative numbers count from the end.
Array slice_in_dim(const Operand& x, std::int64_t start, std::int64_t limit, std::int64_t stride = 1, std::int64_t axis = 0);
/// A slice of static sizes at traced starts, clamped so that it lies inside. Negative starts count from the end.
Array dynamic_slice(const Operand& x, const std::vector<Array>& starts, const Sizes& sizes);
Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size, std::int64_t axis = 0);
/// One element along an axis, which is kept (size 1) or dropped.
Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis = 0, bool keepdims = true);
Array dynamic_update_slice(const Operand& x, const Operand& update, const std::vector<Array>& starts);
Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start, std::int64_t axis);
/// interior: elements between elements. Negative low and high remove.
struct Padding { std::int64_t low = 0, high = 0, interior = 0; };
Array pad(const Operand& x, const Operand& value, const std::vector<Padding>& config);
Array broadcast_in_dim(const Operand& x, const Sizes& shape, const Sizes& dimensions);
Array iota(DType dtype, std::int64_t size, Where where = Where::current());
Array broadcasted_iota(DType dtype, const Sizes& shape, std::int64_t dimension, Where where = Where::current());
Array rev(const Operand& x, const Axes& dimensions);
Array select(const Operand& predicate, const Operand& on_true, const Operand& on_false);
Array clamp(const Operand& low, const Operand& x, const Operand& high);
Array convert_element_type(const Operand& x, DType dtype);
Array bitcast_convert_type(const Operand& x, DType dtype);

/// x, of which derivatives know nothing.
Array stop_gradient(const Operand& x);
/// Keeps the compiler from moving operations across.
std::vector<Array> optimization_barrier(const std::vector<Array>& arrays, Where where = Where::current());

}  // namespace strata::lax

namespace strata {

using lax::erf;

}  // namespace strata
