#include "strata/api/numpy/shape/diagonals.h"

#include <algorithm>

#include "strata/api/index.h"
#include "strata/api/lax/operations.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::axis_of;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::sizes;

/// Where the column is at most the row plus k.
Array lower_mask(const char* name, const Array& x, std::int64_t k) {
  if (x.ndim() < 2) fail(name, "needs a matrix, got {}", describe(x.type()));
  return tri(x.shape(-2), x.shape(-1), k, bool_);
}

/// Rows and columns that satisfy a condition, in order.
template <class F>
std::pair<Array, Array> places(std::int64_t n, std::int64_t m, F holds) {
  std::vector<std::int32_t> rows, columns;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      if (holds(i, j)) {
        rows.push_back(static_cast<std::int32_t>(i));
        columns.push_back(static_cast<std::int32_t>(j));
      }
  return {array(rows), array(columns)};
}

void require_matrix(const char* name, const Array& x) {
  if (x.ndim() != 2) fail(name, "needs a matrix, got {}", describe(x.type()));
}

}  // namespace

Array tril(const Operand& x, std::int64_t k) {
  Site site(x);
  return where(lower_mask("tril", x, k), x, internal::number_like(x, 0));
}
Array triu(const Operand& x, std::int64_t k) {
  Site site(x);
  return where(lower_mask("triu", x, k - 1), internal::number_like(x, 0), x);
}

Array diagonal(const Operand& operand, const Diagonal& options) {
  Site site(operand);
  if (operand->ndim() < 2) fail("diagonal", "needs a matrix, got {}", describe(operand->type()));
  const int rank = operand->ndim(), axis1 = axis_of("diagonal", options.axis1, rank),
            axis2 = axis_of("diagonal", options.axis2, rank);
  if (axis1 == axis2) fail("diagonal", "axis {} is given twice", axis1);
  const Array x = moveaxis(operand, {axis1, axis2}, {-2, -1});
  const std::int64_t row = std::max<std::int64_t>(0, -options.offset),
                     column = std::max<std::int64_t>(0, options.offset);
  const std::int64_t n =
      std::max<std::int64_t>(0, std::min(x.shape(-2) - row, x.shape(-1) - column));
  if (n == 0) {
    std::vector<std::int64_t> shape = sizes(x);
    shape.pop_back();
    shape.back() = 0;
    return zeros_like(x, {}, shape);
  }
  Array square =
      lax::slice_in_dim(lax::slice_in_dim(x, row, row + n, 1, -2), column, column + n, 1, -1);
  // The diagonal of n x n elements stands n + 1 apart: a reshape and a slice.
  std::vector<std::int64_t> flat = sizes(square), apart;
  flat.pop_back();
  flat.back() = n * n;
  square = square.reshape(flat);
  const Array padded = lax::pad(square, internal::number_like(square, 0), [&] {
    std::vector<lax::Padding> config(flat.size());
    config.back().high = n;
    return config;
  }());
  apart = flat;
  apart.back() = n;
  apart.push_back(n + 1);
  return squeeze(lax::slice_in_dim(padded.reshape(apart), 0, 1, 1, -1), -1);
}

Array trace(const Operand& x, const Diagonal& options, std::optional<DType> dtype) {
  Site site(x);
  return sum(diagonal(x, options), {.axis = -1, .dtype = dtype});
}

Array diag(const Operand& x, std::int64_t k) {
  Site site(x);
  if (x->ndim() == 2) return diagonal(x, {.offset = k});
  if (x->ndim() != 1) fail("diag", "needs a vector or a matrix, got {}", describe(x->type()));
  const std::int64_t n = x->size() + std::abs(k);
  const Array wide = lax::pad(x, internal::number_like(x, 0), {{k > 0 ? k : 0, k < 0 ? -k : 0, 0}});
  return where(eye(n, n, k, bool_), wide, internal::number_like(x, 0));
}
Array diagflat(const Operand& x, std::int64_t k) {
  Site site(x);
  return diag(ravel(x), k);
}

Array fill_diagonal(const Operand& x, const Operand& values) {
  Site site(x);
  const int rank = x->ndim();
  if (rank < 2) fail("fill_diagonal", "needs a matrix, got {}", describe(x->type()));
  for (int i = 0; rank > 2 && i < rank; ++i)
    if (x->shape()[i] != x->shape()[0])
      fail("fill_diagonal", "all axes of {} are to be equally long", describe(x->type()));
  const std::int64_t n = std::min(x->shape()[0], x->shape()[rank - 1]);
  std::vector<Index> index(static_cast<std::size_t>(rank), Index(arange(n)));
  const Array v = values->ndim() == 0 ? values.array : resize(values, n);
  return x->at(Indices(index)).set(v);
}

std::pair<Array, Array> tril_indices(std::int64_t n, std::int64_t k,
                                     std::optional<std::int64_t> m) {
  return places(n, m.value_or(n), [&](std::int64_t i, std::int64_t j) { return j <= i + k; });
}
std::pair<Array, Array> triu_indices(std::int64_t n, std::int64_t k,
                                     std::optional<std::int64_t> m) {
  return places(n, m.value_or(n), [&](std::int64_t i, std::int64_t j) { return j >= i + k; });
}
std::pair<Array, Array> tril_indices_from(const Operand& x, std::int64_t k) {
  Site site(x);
  require_matrix("tril_indices_from", x);
  return tril_indices(x->shape()[0], k, x->shape()[1]);
}
std::pair<Array, Array> triu_indices_from(const Operand& x, std::int64_t k) {
  Site site(x);
  require_matrix("triu_indices_from", x);
  return triu_indices(x->shape()[0], k, x->shape()[1]);
}
std::vector<Array> diag_indices(std::int64_t n, std::int64_t ndim) {
  if (n < 0 || ndim < 0) fail("diag_indices", "sizes are at least 0, got {} and {}", n, ndim);
  return std::vector<Array>(static_cast<std::size_t>(ndim), arange(n));
}
std::vector<Array> diag_indices_from(const Operand& x) {
  Site site(x);
  if (x->ndim() < 2) fail("diag_indices_from", "needs a matrix, got {}", describe(x->type()));
  for (int i = 1; i < x->ndim(); ++i)
    if (x->shape()[i] != x->shape()[0])
      fail("diag_indices_from", "all axes of {} are to be equally long", describe(x->type()));
  return diag_indices(x->shape()[0], x->ndim());
}

}  // namespace strata::numpy
