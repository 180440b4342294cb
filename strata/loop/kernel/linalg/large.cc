#include "strata/loop/kernel/linalg/large.h"

#include <atomic>

namespace strata::loop::large {
namespace {

std::atomic<bool> plain_only{false};

/// More than LAPACK's 32-bit integers count in the squares of its work spaces.
constexpr std::int64_t kTooLarge = 1 << 14;

}  // namespace

bool by_lapack(std::int64_t rows, std::int64_t columns) {
  static const bool present = lapack::routine("spotrf") != nullptr;
  return present && std::max(rows, columns) <= kTooLarge && by_products(rows, columns);
}

bool by_products(std::int64_t rows, std::int64_t columns) {
  const auto [least, most] = std::minmax(rows, columns);
  return least > 0 && most > small::kMost && !plain_only.load(std::memory_order_relaxed);
}

void testing_hooks::plain_kernels_only(bool on) { plain_only = on; }

}  // namespace strata::loop::large
