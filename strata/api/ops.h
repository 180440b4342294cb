// jax.ops: sums and extremes of segments.
#pragma once

#include <optional>
#include <string>

#include "strata/api/array.h"

namespace strata::ops {

struct Segments {
  internal::Named named = internal::Named();
  /// How many there are: one more than the greatest number unless given, which a traced
  /// `segment_ids` needs.
  std::optional<std::int64_t> num_segments = std::nullopt;
  bool indices_are_sorted = false, unique_indices = false;
  /// Elements that are combined among themselves first: sums of many small numbers lose less.
  std::optional<std::int64_t> bucket_size = std::nullopt;
  /// Numbers of no segment: "drop" (or "fill"), "clip" to the first or last, "promise_in_bounds":
  /// there are none. Negative ones do not count from the end.
  std::string mode = "drop";
};
/// Slices of `data` along its first axis combined by the number of their segment (a vector of
/// integers): [num_segments, ...]. What no slice goes to is 0, 1, and the least and greatest of the
/// dtype (infinities of floats).
Array segment_sum(const Operand& data, const Operand& segment_ids, const Segments& options = {});
/// The products of the elements of each segment: [num_segments, ...]; 1 where there are none.
Array segment_prod(const Operand& data, const Operand& segment_ids, const Segments& options = {});
/// The greatest element of each segment; the least number there is where there are none.
Array segment_max(const Operand& data, const Operand& segment_ids, const Segments& options = {});
/// The least element of each segment; the greatest number there is where there are none.
Array segment_min(const Operand& data, const Operand& segment_ids, const Segments& options = {});

}  // namespace strata::ops
