// Machine code against the interpreter, for tests.
#pragma once

#include <string>

#include "strata/compile/llvm/compile_kernels.h"
#include "strata/loop/testing/random_kernel.h"

namespace strata::compile::testing {

/// The host without its bf16 products (which round in their own way), and a processor without
/// AVX-512.
const CpuTarget& plain_host();
const CpuTarget& old_processor();

/// Runs the kernel both ways on copies of these contents, its buffers `misalignment` elements off a
/// boundary of 64 bytes in the machine's run. Empty if the bits agree, else where they do not.
std::string difference_from_interpreter(const CpuTarget& target, const loop::Kernel& kernel,
                                        const loop::testing::Buffers& contents,
                                        int misalignment = 0);

}  // namespace strata::compile::testing
