// Products of vectors, matrices and batches of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata::numpy {

/// NumPy's dot: the last axis of x with the second to last of y.
Array dot(const Operand& x, const Operand& y);
/// Batches of matrices; leading axes broadcast.
Array matmul(const Operand& x, const Operand& y);
Array outer(const Operand& x, const Operand& y);
Array vdot(const Operand& x, const Operand& y);
/// Sums over the last axis of both.
Array inner(const Operand& x, const Operand& y);
/// Products of vectors along an axis (of x, conjugated, with y); of matrices with vectors; of vectors (conjugated) with matrices.
Array vecdot(const Operand& x, const Operand& y, std::int64_t axis = -1);
Array matvec(const Operand& x, const Operand& y);
Array vecmat(const Operand& x, const Operand& y);
/// Kronecker's product: each element of x times all of y.
Array kron(const Operand& x, const Operand& y);
struct Cross {
  internal::Named named = internal::Named();
  /// The axes of the vectors in x, in y and in the result; `axis` stands for all three.
  std::int64_t axisa = -1, axisb = -1, axisc = -1;
  std::optional<std::int64_t> axis = std::nullopt;
};
/// The cross product of vectors of 3 elements, or of 2, whose third is 0; of two such ones the third component alone.
Array cross(const Operand& x, const Operand& y, const Cross& options = {});
/// Sums over the last `axes` axes of x and the first of y.
Array tensordot(const Operand& x, const Operand& y, std::int64_t axes = 2);
/// "bij,bjk->bik", "...ij,...jk", "ii->i" (a repeated letter is a diagonal), "ii" (its sum). Any number of operands, contracted from the left.
Array einsum(const std::string& subscripts, const std::vector<Array>& operands, Where where = Where::current());
template <class... More>
Array einsum(const std::string& subscripts, const Operand& first, const More&... more) {
  return einsum(subscripts, std::vector<Array>{first.array, Array(more)...}, first.where);
}

}  // namespace strata::numpy
