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
/// The Hermitian matrix of which the lower triangle is given; of the diagonal the real part.
Value* hermitian(Builder& b, Value* x);
/// Ones on the diagonal, of x's type.
Value* identity_like(Builder& b, Value* x);
/// The diagonal of square matrices.
Value* diagonal_of(Builder& b, Value* x);
/// Vectors as matrices of `like`'s shape: element j in all of column j, element i in all of row i.
Value* in_columns(Builder& b, Value* x, Value* like);
Value* in_rows(Builder& b, Value* x, Value* like);
/// 1 / (w_j - w_i), and 0 on the diagonal: how eigenvectors move into each other.
Value* inverse_differences(Builder& b, Value* w, Value* like);
/// Row i is row rows[i] of x: [..., m, n] by [..., m].
Value* rows_taken(Builder& b, Value* x, Value* rows);
Value* matmul(Builder& b, Value* x, Value* y);
/// op(a) X = b, or X op(a) = b; `op` is NO_TRANSPOSE, TRANSPOSE or ADJOINT.
Value* triangular_solve(Builder& b, Value* a, Value* rhs, bool left, bool lower, bool unit,
                        const std::string& op);

/// Right hand sides of batches [size, ..., n, k], as matrices of columns (or of rows) that one
/// batch of systems [...] has: [..., n, size * k] or
/// [..., size * k, n]. And back.
Value* sides_together(Builder& b, Value* rhs, bool columns);
Value* sides_apart(Builder& b, Value* x, std::int64_t size, bool columns);

/// a X = b, or a^T X = b, of square matrices (strata.solve).
Value* solve(Builder& b, Value* a, Value* rhs, bool transposed = false);

/// The element type as the kernels of linear algebra name it (loop/kernel/linalg/factor.h); throws
/// for others.
std::int64_t factor_element(std::string_view op, DType dtype);
/// Product of the dimensions before the last two.
std::int64_t batch_count(const Shape& shape);

}  // namespace strata::op
