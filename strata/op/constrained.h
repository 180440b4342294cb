// What a message is about, and the number of the constraint that it breaks, which stands behind the
// sentence.
#pragma once

#include <string_view>

namespace strata::op {

/// "permutation (C2)" taken apart: "permutation" and " (C2)"; without a number all is `what`.
struct Constrained {
  explicit Constrained(std::string_view text) : what(text) {
    const std::size_t at = text.rfind(" (C");
    if (at == text.npos || text.back() != ')') return;
    what = text.substr(0, at);
    number = text.substr(at);
  }
  std::string_view what, number;
};

}  // namespace strata::op
