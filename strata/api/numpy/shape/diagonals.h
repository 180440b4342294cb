// Diagonals, triangles, and where their elements stand.
#pragma once

#include <utility>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

/// What is not above (below) the k-th diagonal; zeros elsewhere.
Array tril(const Operand& x, std::int64_t k = 0);
/// x with zeros below the k-th diagonal of its last two axes.
Array triu(const Operand& x, std::int64_t k = 0);

struct Diagonal {
  internal::Named named = internal::Named();
  std::int64_t offset = 0, axis1 = 0, axis2 = 1;
};
/// The diagonal of two axes, which becomes the last one.
Array diagonal(const Operand& x, const Diagonal& options = {});
/// The sum of the diagonal of two axes, the first two unless given.
Array trace(const Operand& x, const Diagonal& options = {}, std::optional<DType> dtype = {});
/// A matrix with x as its k-th diagonal; of a matrix, the k-th diagonal.
Array diag(const Operand& x, std::int64_t k = 0);
/// A matrix with the flattened x as its k-th diagonal, zeros elsewhere.
Array diagflat(const Operand& x, std::int64_t k = 0);
/// x with these values on its diagonal.
Array fill_diagonal(const Operand& x, const Operand& values);

/// Rows and columns (i32) of the elements of an n x m matrix at and below the k-th diagonal.
[[nodiscard]] std::pair<Array, Array> tril_indices(std::int64_t n, std::int64_t k = 0,
                                                   std::optional<std::int64_t> m = {});
/// Rows and columns of the elements at and above the k-th diagonal of an n x m matrix.
[[nodiscard]] std::pair<Array, Array> triu_indices(std::int64_t n, std::int64_t k = 0,
                                                   std::optional<std::int64_t> m = {});
/// Rows and columns of the elements of x at and below the k-th diagonal.
[[nodiscard]] std::pair<Array, Array> tril_indices_from(const Operand& x, std::int64_t k = 0);
/// Rows and columns of the elements of x at and above the k-th diagonal.
[[nodiscard]] std::pair<Array, Array> triu_indices_from(const Operand& x, std::int64_t k = 0);
/// The indices of the diagonal of an array of `ndim` axes of size n, one array an axis.
[[nodiscard]] std::vector<Array> diag_indices(std::int64_t n, std::int64_t ndim = 2);
/// The indices of the diagonal of x, whose axes are of one size.
[[nodiscard]] std::vector<Array> diag_indices_from(const Operand& x);

}  // namespace strata::numpy

namespace strata {

using numpy::diag;
using numpy::diag_indices;
using numpy::diag_indices_from;
using numpy::diagflat;
using numpy::diagonal;
using numpy::fill_diagonal;
using numpy::trace;
using numpy::tril;
using numpy::tril_indices;
using numpy::tril_indices_from;
using numpy::triu;
using numpy::triu_indices;
using numpy::triu_indices_from;

}  // namespace strata
