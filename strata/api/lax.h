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

/// [start, limit) along each axis, every stride-th element. Throws Error where a bound is outside
/// of x.
Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides = {});
/// [start, limit) along one axis, from the first or to the last element where none is given;
/// negative numbers count from the end.
Array slice_in_dim(const Operand& x, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> limit, std::int64_t stride = 1,
                   std::int64_t axis = 0);
/// A slice of static sizes at traced starts, clamped so that it lies inside. Negative starts count
/// from the end.
Array dynamic_slice(const Operand& x, const std::vector<Array>& starts, const Sizes& sizes);
/// `size` elements along one axis from a traced start on, which is clamped so that they lie inside.
Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           std::int64_t axis = 0);
/// One element along an axis, which is kept (size 1) or dropped.
Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis = 0,
                           bool keepdims = true);
/// x with `update`, of the same rank, written at traced starts, which are clamped so that it lies
/// inside.
Array dynamic_update_slice(const Operand& x, const Operand& update,
                           const std::vector<Array>& starts);
/// x with `update` written from a traced start on along one axis.
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
/// x with `value` before, behind and between its elements, a `Padding` an axis; negative numbers
/// remove.
Array pad(const Operand& x, const Operand& value, const std::vector<Padding>& config);
/// x in a larger shape: axis i of x becomes axis dimensions[i], where its size is the same or 1.
Array broadcast_in_dim(const Operand& x, const Sizes& shape, const Sizes& dimensions);
/// 0, 1, ..., size - 1.
Array iota(DType dtype, std::int64_t size, Where where = Where::current());
/// Along one axis 0, 1, ...; the same along all others.
Array broadcasted_iota(DType dtype, const Sizes& shape, std::int64_t dimension,
                       Where where = Where::current());
/// The elements in reverse order along these axes.
Array rev(const Operand& x, const Axes& dimensions);
/// on_true or on_false, element by element; the predicate is boolean (or i32: above 0), a scalar or
/// of their shape.
Array select(const Operand& predicate, const Operand& on_true, const Operand& on_false);
/// min(max(x, low), high) of one dtype; the bounds are scalars or of the shape of x.
Array clamp(const Operand& low, const Operand& x, const Operand& high);
/// The elements converted to a dtype: floats to integers towards zero, complex numbers to their
/// real part.
Array convert_element_type(const Operand& x, DType dtype);
/// The same bits as elements of another dtype; a narrower one adds an axis at the end, a wider one
/// takes it away.
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
