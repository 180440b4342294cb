// Arrays in memory that others laid out: a number of bytes from one element to the next in each
// dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata {

/// Copies an array of `width` bytes an element between memories of the given strides, in bytes; any
/// may be negative or zero.
void copy_strided(std::span<const std::int64_t> dims, std::size_t width, const std::byte* from,
                  std::span<const std::int64_t> from_strides, std::byte* to,
                  std::span<const std::int64_t> to_strides);
/// Strides of a dense array whose dimensions are in this order, the fastest first.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> dims, std::size_t width,
                                        std::span<const std::int64_t> minor_to_major);
/// The order of dimensions of a row-major array, the fastest first.
std::vector<std::int64_t> row_major(int rank);
/// Whether elements are one behind another as in a dense array: strides of dimensions of one
/// element do not matter.
bool is_dense(std::span<const std::int64_t> dims, std::span<const std::int64_t> strides,
              std::span<const std::int64_t> dense);

}  // namespace strata
