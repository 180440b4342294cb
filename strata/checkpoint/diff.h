// What a tensor holds in a few numbers, and where two checkpoints differ.
//
//   Differences d = diff(*load("a/checkpoints/400"), *load("b/checkpoints/400"));
//   d.same()                       // every tensor and the state of the data are the same bits
//   d.tensors[0].relative_l2       // 3.1e-8
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/checkpoint/checkpoint.h"

namespace strata::checkpoint {

/// Over the finite elements; a complex one counts by its absolute value.
struct Norms {
  double l2 = 0, max_abs = 0;
  std::int64_t not_finite = 0;
};
Norms norms(const Literal& tensor);

/// A tensor that is not the same bits in both.
struct TensorDifference {
  std::string part, tensor;
  /// "only in the first", "only in the second", "f32[2] and f32[3]"; empty when only elements
  /// differ, and then:
  std::string kind;
  std::int64_t count = 0;           // elements of other bits
  double max_abs = 0, max_ulp = 0;  // of those elements; infinite where just one of the two is
                                    // finite. Integers: both the distance
  double relative_l2 = 0;  // ‖first − second‖ / ‖first‖; infinite where the first is zero, NaN
                           // where an element is not finite
};

/// A member of a note that is another JSON value, or missing (then empty), in the other one.
struct NoteDifference {
  std::string note, member;  // "data", "/next_batch"
  std::string first, second;
};

struct Differences {
  std::size_t compared = 0;  // tensors of the same type in both
  std::vector<TensorDifference> tensors;
  std::vector<NoteDifference> data;  // of the note "data", the state of the data
  std::vector<NoteDifference>
      others;  // of the step and the other notes, which do not make two states different
  bool same() const { return tensors.empty() && data.empty(); }
};
Differences diff(const Checkpoint& first, const Checkpoint& second);

}  // namespace strata::checkpoint
