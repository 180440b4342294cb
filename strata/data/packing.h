// Which examples share a row, so that little of it is padding.
//
//   data::pack_best_fit({7, 3, 5, 2}, 8)       // {{0}, {2, 1}, {3}}
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strata::data {

/// Bins of at most `capacity`, as lists of numbers of items; every item is in one. Best fit,
/// decreasing: from the longest on (equal ones in their order), each goes into the bin with the
/// least space that suffices, the oldest of such, else into a new one. Needs 0 < length <= capacity
/// of each. Source: TRL's packing_strategy "bfd" (trl/data_utils.py).
std::vector<std::vector<std::size_t>> pack_best_fit(std::span<const std::int64_t> lengths,
                                                    std::int64_t capacity);

}  // namespace strata::data
