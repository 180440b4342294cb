// Operations under the names of jax.lax: nothing is promoted or broadcast except C++ scalars.
#pragma once

#include <string>
#include <vector>

#include "strata/api/lax/convolution.h"
#include "strata/api/lax/fft.h"
#include "strata/api/lax/gather.h"
#include "strata/api/lax/incomplete.h"
#include "strata/api/lax/products.h"
#include "strata/api/lax/random.h"
#include "strata/api/lax/reductions.h"
#include "strata/api/lax/scan.h"
#include "strata/api/lax/shapes.h"
#include "strata/api/lax/staging.h"
#include "strata/api/lax/types.h"
#include "strata/api/lax/windows.h"
#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy.h"

namespace strata::lax {

Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides = {});
/// [start, limit) along one axis, from the first or to the last element where none is given;
/// negative numbers count from the end.
Array slice_in_dim(const Operand& x, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> limit, std::int64_t stride = 1,
                   std::int64_t axis = 0);
/// A slice of static sizes at traced starts, clamped so that it lies inside. Negative starts count
/// from the end.
Array dynamic_slice(const Operand& x, const std::vector<Array>& starts, const Sizes& sizes);
Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           std::int64_t axis = 0);
/// One element along an axis, which is kept (size 1) or dropped.
Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis = 0,
                           bool keepdims = true);
Array dynamic_update_slice(const Operand& x, const Operand& update,
                           const std::vector<Array>& starts);
Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  std::int64_t axis);
/// One element, or slices without the axis, put in place of what is at an index; no more than one
/// element along the axis.
Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  std::int64_t axis);
/// interior: elements between elements. Negative low and high remove.
struct Padding {
  std::int64_t low = 0, high = 0, interior = 0;
};
Array pad(const Operand& x, const Operand& value, const std::vector<Padding>& config);
Array broadcast_in_dim(const Operand& x, const Sizes& shape, const Sizes& dimensions);
Array iota(DType dtype, std::int64_t size, Where where = Where::current());
Array broadcasted_iota(DType dtype, const Sizes& shape, std::int64_t dimension,
                       Where where = Where::current());
Array rev(const Operand& x, const Axes& dimensions);
/// on_true or on_false, element by element; the predicate is boolean (or i32: above 0), a scalar or
/// of their shape.
Array select(const Operand& predicate, const Operand& on_true, const Operand& on_false);
/// min(max(x, low), high) of one dtype; the bounds are scalars or of the shape of x.
Array clamp(const Operand& low, const Operand& x, const Operand& high);
Array convert_element_type(const Operand& x, DType dtype);
Array bitcast_convert_type(const Operand& x, DType dtype);

/// x itself as an array: those from outside of a trace enter it where they are used.
inline Array stage(const Operand& x) { return x; }
/// x, of which derivatives know nothing.
Array stop_gradient(const Operand& x);
/// Keeps the compiler from moving operations across.
[[nodiscard]] std::vector<Array> optimization_barrier(const std::vector<Array>& arrays,
                                                      Where where = Where::current());

}  // namespace strata::lax

namespace strata {

using lax::erf;

}  // namespace strata
