#include "strata/loop/kernel/native.h"

#include <algorithm>

#include "strata/base/check.h"

// X(name): `void strata_<name>(void* const* buffers, std::int64_t begin, std::int64_t end)`, in the
// order of their names.
#define STRATA_NATIVE_KERNELS(X) \
  X(argsort)                     \
  X(block_dequantize)            \
  X(block_dot)                   \
  X(block_dot_int8)              \
  X(block_dot_transposed)        \
  X(cholesky)                    \
  X(copy_rows)                   \
  X(eig)                         \
  X(eigenvalues)                 \
  X(eigh)                        \
  X(fft)                         \
  X(geqp3)                       \
  X(geqrf)                       \
  X(gmm)                         \
  X(hessenberg)                  \
  X(householder_product)         \
  X(lu)                          \
  X(product)                     \
  X(random_bits)                 \
  X(right_eigenvectors)          \
  X(schur)                       \
  X(singular_values)             \
  X(sort)                        \
  X(svd)                         \
  X(tgmm)                        \
  X(triangular_solve)            \
  X(tridiagonal)                 \
  X(tridiagonal_solve)

#define STRATA_DECLARE(name) \
  extern "C" void strata_##name(void* const* buffers, std::int64_t begin, std::int64_t end);
STRATA_NATIVE_KERNELS(STRATA_DECLARE)
#undef STRATA_DECLARE

namespace strata::loop {

namespace {

std::vector<NamedKernel>& all() {
#define STRATA_LIST(name) {"strata_" #name, strata_##name},
  static std::vector<NamedKernel>& kernels =
      *new std::vector<NamedKernel>{STRATA_NATIVE_KERNELS(STRATA_LIST)};
#undef STRATA_LIST
  return kernels;
}

}  // namespace

std::span<const NamedKernel> native_kernels() { return all(); }

bool add_native_kernel(const NamedKernel& kernel) {
  auto before = [](const NamedKernel& a, const NamedKernel& b) {
    return std::string_view(a.symbol) < b.symbol;
  };
  all().insert(std::upper_bound(all().begin(), all().end(), kernel, before), kernel);
  return true;
}

NativeKernel native_kernel(std::string_view symbol) {
  for (const NamedKernel& k : native_kernels())
    if (symbol == k.symbol) return k.function;
  STRATA_UNREACHABLE("there is no native kernel {}", symbol);
}

void run_native(std::string_view symbol, std::vector<void*> buffers,
                const std::vector<std::int64_t>& params, std::int64_t grid) {
  buffers.push_back(const_cast<std::int64_t*>(params.data()));
  native_kernel(symbol)(buffers.data(), 0, grid);
}

}  // namespace strata::loop
