// Lengths at which sums of equal numbers, the worst for rounding, are to keep their digits. For
// tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace strata::compile::testing {

/// From where long sums begin to ten million; one more where STRATA_LONG_SUMS says it (make soak).
inline std::vector<std::int64_t> long_lengths(std::int64_t least) {
  std::vector<std::int64_t> out{least, 1000003, 10000000};
  if (const char* more = std::getenv("STRATA_LONG_SUMS")) out.push_back(std::atoll(more));
  return out;
}

}  // namespace strata::compile::testing
