// Slices at static and traced places under the names of jax.lax.
#pragma once

#include <optional>
#include <vector>

#include "strata/api/array.h"

namespace strata::lax {

/// [start, limit) along each axis, every stride-th element. Throws Error where a bound is outside
/// of x.
Array slice(const Operand& x, const Sizes& start, const Sizes& limit, const Sizes& strides = {});
/// [start, limit) along one axis, from the first or to the last element where none is given;
/// negative numbers count from the end.
Array slice_in_dim(const Operand& x, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> limit, std::int64_t stride = 1,
                   std::int64_t axis = 0);
/// Takes a slice of static sizes at traced start indices, which are clamped so that the slice is in
/// bounds. Negative start indices count from the end.
Array dynamic_slice(const Operand& x, const std::vector<Array>& starts, const Sizes& sizes);
/// Takes `size` elements along one axis from a traced start index, which is clamped so that the
/// slice is in bounds.
Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           std::int64_t axis = 0);
/// x with `update`, of the same rank, written at traced starts, which are clamped so that it lies
/// inside.
Array dynamic_update_slice(const Operand& x, const Operand& update,
                           const std::vector<Array>& starts);
/// x with `update` written from a traced start on along one axis.
Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  std::int64_t axis);

}  // namespace strata::lax
