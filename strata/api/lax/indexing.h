// Elements along axes under the names of jax.lax, by numbers and by arrays of them.
#pragma once

#include <vector>

#include "strata/api/array.h"

namespace strata::lax {

/// The element at a static index along an axis, which is kept (size 1) or dropped. Negative indices
/// count from the end.
Array index_in_dim(const Operand& x, std::int64_t index, std::int64_t axis = 0,
                   bool keepdims = true);
/// x[..., indices[0][n], ..., indices[k][n], ...] for each n, the axes of the indices replaced by
/// one in front. Indices are vectors of one size and are taken modulo the sizes of their axes.
Array index_take(const Operand& x, const std::vector<Array>& indices, const Sizes& axes);
/// One element along an axis, which is kept (size 1) or dropped.
Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis = 0,
                           bool keepdims = true);
/// One element, or slices without the axis, put in place of what is at an index; no more than one
/// element along the axis.
Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  std::int64_t axis);

}  // namespace strata::lax
