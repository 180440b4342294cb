// Idioms on matrices: the last two dimensions of an array, those before them a batch. For rules.
#pragma once

#include "strata/op/build.h"

namespace strata::op {

/// The complex conjugate; a real array itself.
Value* conj(Builder& b, Value* x);
/// Rows and columns swapped.
Value* transposed(Builder& b, Value* x);
/// Both.
Value* adjoint(Builder& b, Value* x);
/// The lower or upper triangle, zero elsewhere; without the diagonal where `strict`.
Value* triangle(Builder& b, Value* x, bool lower, bool strict = false);
/// The diagonal and everything else multiplied by `weight`.
Value* with_diagonal_times(Builder& b, Value* x, double weight);
Value* matmul(Builder& b, Value* x, Value* y);
/// op(a) X = b, or X op(a) = b; `op` is NO_TRANSPOSE, TRANSPOSE or ADJOINT.
Value* triangular_solve(Builder& b, Value* a, Value* rhs, bool left, bool lower, bool unit, const std::string& op);

/// The element type as the kernels of linear algebra name it (loop/kernel/factor.h); throws for others.
std::int64_t factor_element(std::string_view op, DType dtype);
/// Product of the dimensions before the last two.
std::int64_t batch_count(const Shape& shape);

}  // namespace strata::op
