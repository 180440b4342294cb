#include "strata/loop/kernel/native.h"

#include <algorithm>

#include "strata/base/check.h"

// X(name): `void strata_<name>(void* const* buffers, std::int64_t begin, std::int64_t end)`, in the order of their names.
#define STRATA_NATIVE_KERNELS(X) \
  X(cholesky)                    \
  X(copy_rows)                   \
  X(fft)                         \
  X(random_bits)                 \
  X(triangular_solve)

#define STRATA_DECLARE(name) extern "C" void strata_##name(void* const* buffers, std::int64_t begin, std::int64_t end);
STRATA_NATIVE_KERNELS(STRATA_DECLARE)
#undef STRATA_DECLARE

namespace strata::loop {

std::span<const NamedKernel> native_kernels() {
#define STRATA_LIST(name) {"strata_" #name, strata_##name},
  static constexpr NamedKernel all[] = {STRATA_NATIVE_KERNELS(STRATA_LIST)};
#undef STRATA_LIST
  return all;
}

NativeKernel native_kernel(std::string_view symbol) {
  for (const NamedKernel& k : native_kernels())
    if (symbol == k.symbol) return k.function;
  STRATA_UNREACHABLE("there is no native kernel {}", symbol);
}

void run_native(std::string_view symbol, std::vector<void*> buffers, const std::vector<std::int64_t>& params, std::int64_t grid) {
  buffers.push_back(const_cast<std::int64_t*>(params.data()));
  native_kernel(symbol)(buffers.data(), 0, grid);
}

}  // namespace strata::loop
