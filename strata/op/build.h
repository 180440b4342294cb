// Functions that append one operation (or a short idiom) and return its value. Rules, transforms
// and the api build graphs with these; each throws strata::Error where the operation's constraints
// are broken.
//
//   Value* y = op::mul(b, op::exp(b, x), op::full_like(b, x, 0.5));
//
// Nothing is broadcast or converted silently: operands of elementwise functions have equal shapes
// and dtypes.
#pragma once

#include <string>
#include <vector>

#include "strata/op/def.h"

namespace strata::op {

using ir::Ints;

// ---- constants ---------------------------------------------------------------------------------
/// The literal itself.
Value* constant(Builder& b, const Literal& value);
/// Every element equal to `value` rounded to the dtype: a scalar constant, broadcast when `type`
/// has dimensions.
Value* constant(Builder& b, const Type& type, double value);
Value* scalar(Builder& b, DType dtype, double value);
Value* full_like(Builder& b, Value* like, double value);
Value* zeros(Builder& b, const Type& type);
Value* zeros_like(Builder& b, Value* like);
/// 0, 1, 2, ... along dimension `dim` of `type`.
Value* iota(Builder& b, const Type& type, int dim);

// ---- elementwise -------------------------------------------------------------------------------
Value* abs(Builder& b, Value* x);
Value* cbrt(Builder& b, Value* x);
Value* ceil(Builder& b, Value* x);
Value* cos(Builder& b, Value* x);
Value* erf(Builder& b, Value* x);
Value* exp(Builder& b, Value* x);
Value* expm1(Builder& b, Value* x);
Value* floor(Builder& b, Value* x);
Value* is_finite(Builder& b, Value* x);
Value* log(Builder& b, Value* x);
Value* log1p(Builder& b, Value* x);
Value* logistic(Builder& b, Value* x);
Value* neg(Builder& b, Value* x);
Value* not_(Builder& b, Value* x);
Value* popcnt(Builder& b, Value* x);
Value* round_nearest_afz(Builder& b, Value* x);
Value* round_nearest_even(Builder& b, Value* x);
Value* rsqrt(Builder& b, Value* x);
Value* sign(Builder& b, Value* x);
Value* sin(Builder& b, Value* x);
Value* sqrt(Builder& b, Value* x);
Value* square(Builder& b, Value* x);
Value* tan(Builder& b, Value* x);
Value* tanh(Builder& b, Value* x);

Value* add(Builder& b, Value* x, Value* y);
Value* and_(Builder& b, Value* x, Value* y);
Value* atan2(Builder& b, Value* y, Value* x);
Value* div(Builder& b, Value* x, Value* y);
Value* max(Builder& b, Value* x, Value* y);
Value* min(Builder& b, Value* x, Value* y);
Value* mul(Builder& b, Value* x, Value* y);
Value* or_(Builder& b, Value* x, Value* y);
Value* pow(Builder& b, Value* x, Value* y);
Value* rem(Builder& b, Value* x, Value* y);
Value* shift_left(Builder& b, Value* x, Value* y);
Value* shift_right_arithmetic(Builder& b, Value* x, Value* y);
Value* shift_right_logical(Builder& b, Value* x, Value* y);
Value* sub(Builder& b, Value* x, Value* y);
Value* xor_(Builder& b, Value* x, Value* y);

/// x + y where null stands for zero: for sums of tangents and cotangents. Null when both are.
Value* add_or_null(Builder& b, Value* x, Value* y);

/// `direction` is "EQ" "NE" "GE" "GT" "LE" "LT"; the comparison type follows from the dtype.
Value* compare(Builder& b, Value* x, Value* y, const std::string& direction);
/// pred ? x : y. `pred` has the shape of x or is a scalar.
Value* select(Builder& b, Value* pred, Value* x, Value* y);
/// min(max(x, low), high); the bounds have the shape of x or are scalars.
Value* clamp(Builder& b, Value* low, Value* x, Value* high);
/// x itself when it has that dtype already.
Value* convert(Builder& b, Value* x, DType dtype);
/// The same bits as another dtype; a narrower one appends a dimension, a wider one drops the last.
Value* bitcast_convert(Builder& b, Value* x, DType dtype);

/// Complex numbers from their parts, and the parts (of a real number: itself and 0).
Value* complex(Builder& b, Value* re, Value* im);
Value* real(Builder& b, Value* x);
Value* imag(Builder& b, Value* x);
/// A narrow type as the type of its stored elements, or back; x itself when it has that dtype.
Value* storage_cast(Builder& b, Value* x, DType dtype);
/// The numbers (f32) that the bits (ui8) of a float type below 16 bits stand for, and the nearest
/// bits of numbers.
Value* decode_float(Builder& b, Value* bits, DType format);
Value* encode_float(Builder& b, Value* number, DType format);

// ---- shape -------------------------------------------------------------------------------------
/// Dimension i of x becomes dimension dims[i] of `shape`; the other dimensions repeat.
Value* broadcast_in_dim(Builder& b, Value* x, const Shape& shape, const Ints& dims);
/// numpy's rule: dimensions align at the right, size 1 stretches. x itself when nothing changes.
Value* broadcast_to(Builder& b, Value* x, const Shape& shape);
/// x repeated along a new leading dimension of `size`.
Value* broadcast_leading(Builder& b, Value* x, std::int64_t size);
/// x itself when it has that shape.
Value* reshape(Builder& b, Value* x, const Shape& shape);
/// Result dimension i is dimension permutation[i] of x. x itself for the identity.
Value* transpose(Builder& b, Value* x, const Ints& permutation);
/// Moves dimension `from` to `to`, the others keeping their order.
Value* move_dim(Builder& b, Value* x, int from, int to);
/// strides empty: all 1.
Value* slice(Builder& b, Value* x, const Ints& start, const Ints& limit, const Ints& strides = {});
/// [start, limit) along one dimension, all of the others.
Value* slice_dim(Builder& b, Value* x, int dim, std::int64_t start, std::int64_t limit);
/// interior empty: all 0. `value` is a scalar; low and high may be negative.
Value* pad(Builder& b, Value* x, Value* value, const Ints& low, const Ints& high,
           const Ints& interior = {});
Value* concatenate(Builder& b, const Values& xs, int dim);
Value* reverse(Builder& b, Value* x, const Ints& dims);
Values optimization_barrier(Builder& b, const Values& xs);

// ---- sums and products -------------------------------------------------------------------------
/// Reduces over `dims` with a recognised combiner from its neutral element; the dimensions
/// disappear.
Value* reduce(Builder& b, Value* x, const Ints& dims, Combiner combiner);
Value* reduce_sum(Builder& b, Value* x, const Ints& dims);
Value* reduce_max(Builder& b, Value* x, const Ints& dims);
Value* reduce_min(Builder& b, Value* x, const Ints& dims);
/// The same from an initial value (a scalar).
Value* reduce(Builder& b, Value* x, Value* init, const Ints& dims, Combiner combiner);
/// Sums away what `broadcast_to` would have added: the result has `shape`.
Value* sum_to(Builder& b, Value* x, const Shape& shape);

struct DotDims {
  Ints lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};
/// Result dimensions: batch, lhs free, rhs free. Result dtype: that of the operands unless given.
Value* dot_general(Builder& b, Value* lhs, Value* rhs, const DotDims& dims);
Value* dot_general(Builder& b, Value* lhs, Value* rhs, const DotDims& dims, DType result);

// ---- indexing ----------------------------------------------------------------------------------
/// `starts`: one scalar per dimension, of one integer dtype.
Value* dynamic_slice(Builder& b, Value* x, const Values& starts, const Ints& sizes);
Value* dynamic_update_slice(Builder& b, Value* x, Value* update, const Values& starts);

// ---- for rules ---------------------------------------------------------------------------------
/// The same operation (attributes, result types; no regions) on other operands of the same types.
Op& again(Builder& b, const Op& op, std::span<Value* const> operands);

}  // namespace strata::op
