// How the public functions are put together from graph operations. Private to this room.
#pragma once

#include <vector>

#include "strata/api/trace/trace.h"
#include "strata/op/build.h"

namespace strata::internal {

using Ints = std::vector<std::int64_t>;
using ir::Builder;
using ir::Value;
using ir::Values;

/// The dtype in which operands meet. Throws Error in the name of `operation`.
WeakDType promoted(const char* operation, std::span<const Array> arrays);
/// Integers and booleans become the default float; weakness stays.
WeakDType inexact(WeakDType type);
/// x in a dtype: scalars on the host, arrays by an operation.
Array cast(const Array& x, WeakDType type);
/// The same array, strongly typed.
inline Array strong(const Array& x) { return cast(x, {x.dtype(), false}); }
/// NumPy's common shape. Throws Error in the name of `operation` with all shapes.
Shape broadcast_shapes(const char* operation, std::span<const Array> arrays);
/// An axis as a non-negative number. Throws Error in the name of `operation`.
int axis_of(const char* operation, std::int64_t axis, int rank);
/// Axes sorted, non-negative. Throws Error in the name of `operation`.
Ints axes_of(const char* operation, const Axes& axes, int rank);

using Unary = Value* (*)(Builder&, Value*);
using Binary = Value* (*)(Builder&, Value*, Value*);
/// One operation on x as it is.
Array unary(const Array& x, Unary f);
/// Operands promoted, converted and broadcast, then f. `to_inexact`: integers become floats first.
struct BinaryOptions {
  bool to_inexact = false;
  bool predicate = false;  // the result is boolean, so never weak
};
Array binary(const char* operation, const Operand& x, const Operand& y, Binary f,
             BinaryOptions options = {});
/// The operation of this name on x as it is.
Array unary(const Array& x, const char* operation);
/// x as floats (complex numbers stay); weakness stays.
Array as_inexact(const Array& x);
/// Throws Error in the name of `operation` where x is complex.
void require_real(const char* operation, const Array& x);
/// A number in the dtype of x, weakly typed where x is.
inline Array number_like(const Array& x, double value) {
  return cast(Array(value), {x.dtype(), x.weak()});
}
/// The largest finite number of a float type, and its negative; the extremes of integers and
/// booleans.
Array greatest(DType dtype);
Array least(DType dtype);
/// Operands broadcast against each other and promoted to one dtype.
std::vector<Array> broadcast_promoted(const char* operation, std::vector<Array> arrays);
/// Copies of `ints` as an attribute list, sizes of a static shape.
inline Ints sizes(const Array& x) { return x.shape().sizes(); }

}  // namespace strata::internal
