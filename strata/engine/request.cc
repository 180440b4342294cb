#include "strata/engine/request.h"

#include <algorithm>

#include "strata/base/error.h"

namespace strata::engine {

std::string_view name(End end) {
  switch (end) {
    case End::max_tokens: return "max_tokens";
    case End::stop: return "stop";
    case End::length: return "length";
    case End::cancelled: return "cancelled";
    case End::error: return "error";
    case End::deadline: return "deadline";
    case End::repetition: return "repetition";
  }
  return "";
}

void check(const RepetitionDetection& d) {
  if (d.min_size < 1 || d.max_size < d.min_size || d.min_count < 2)
    throw Error("engine",
                "repetition_detection wants 1 <= min_size <= max_size and min_count >= 2, got "
                "min_size={}, max_size={}, min_count={}",
                d.min_size, d.max_size, d.min_count);
}

bool repeats(std::span<const std::int32_t> tokens, const RepetitionDetection& d) {
  const auto length = static_cast<std::int64_t>(tokens.size());
  for (std::int64_t size = d.min_size; size <= d.max_size && size <= length / d.min_count; ++size) {
    // Tokens that equal those `size` before them make equal sequences.
    const auto tail = tokens.last(static_cast<std::size_t>(size * d.min_count));
    if (std::equal(tail.begin() + size, tail.end(), tail.begin())) return true;
  }
  return false;
}

}  // namespace strata::engine
