// Kernels written in C++ rather than in the loop form: what a loop nest says badly (transforms of
// any length, factorisations, sorting). The reference evaluator calls the same functions, so their
// bits agree with compiled code by construction.
//
// A kernel gets the addresses of operands, of results, and last of its parameters (`const
// std::int64_t*`), and does the grid points [begin, end): in any order, on any thread, the same
// bits.
//
//   void fft_c64(void* const* buffers, std::int64_t begin, std::int64_t end);
//
// A kernel is a file of its own here and one line in native.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace strata::loop {

using NativeKernel = void (*)(void* const* buffers, std::int64_t begin, std::int64_t end);

struct NamedKernel {
  const char* symbol;  // "strata_fft_c64"
  NativeKernel function;
};
/// All of them, in the order of their symbols.
std::span<const NamedKernel> native_kernels();
/// One more, from a room below, before `main`; returns true, so that it can initialise a constant.
bool add_native_kernel(const NamedKernel& kernel);
/// A check fails for a symbol that is not there.
NativeKernel native_kernel(std::string_view symbol);

/// Runs all grid points on the caller.
void run_native(std::string_view symbol, std::vector<void*> buffers,
                const std::vector<std::int64_t>& params, std::int64_t grid);

}  // namespace strata::loop
