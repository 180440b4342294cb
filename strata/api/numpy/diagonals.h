// Diagonals, triangles, and where their elements stand.
#pragma once

#include <utility>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

/// What is not above (below) the k-th diagonal; zeros elsewhere.
Array tril(const Operand& x, std::int64_t k = 0);
Array triu(const Operand& x, std::int64_t k = 0);

struct Diagonal {
  internal::Named named = internal::Named();
  std::int64_t offset = 0, axis1 = 0, axis2 = 1;
};
/// The diagonal of two axes, which becomes the last one.
Array diagonal(const Operand& x, const Diagonal& options = {});
/// Its sum.
Array trace(const Operand& x, const Diagonal& options = {}, std::optional<DType> dtype = {});
/// A matrix with x as its k-th diagonal; of a matrix, the k-th diagonal.
Array diag(const Operand& x, std::int64_t k = 0);
/// The same of the flattened array.
Array diagflat(const Operand& x, std::int64_t k = 0);
/// x with these values on its diagonal.
Array fill_diagonal(const Operand& x, const Operand& values);

/// Rows and columns (i32) of the elements of a triangle, of a diagonal.
[[nodiscard]] std::pair<Array, Array> tril_indices(std::int64_t n, std::int64_t k = 0,
                                                   std::optional<std::int64_t> m = {});
[[nodiscard]] std::pair<Array, Array> triu_indices(std::int64_t n, std::int64_t k = 0,
                                                   std::optional<std::int64_t> m = {});
[[nodiscard]] std::pair<Array, Array> tril_indices_from(const Operand& x, std::int64_t k = 0);
[[nodiscard]] std::pair<Array, Array> triu_indices_from(const Operand& x, std::int64_t k = 0);
[[nodiscard]] std::vector<Array> diag_indices(std::int64_t n, std::int64_t ndim = 2);
[[nodiscard]] std::vector<Array> diag_indices_from(const Operand& x);

}  // namespace strata::numpy
