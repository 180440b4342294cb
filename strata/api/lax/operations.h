// Single operations under the names of jax.lax: nothing is promoted or broadcast except C++
// scalars.
#pragma once

#include <vector>

#include "strata/api/array.h"

namespace strata::lax {

namespace detail {
/// A second operand: of the dtype of x, or a C++ number, which takes it on. Throws Error in the
/// name of `name`.
Array alike(const char* name, const Array& x, const Array& other);
}  // namespace detail

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
