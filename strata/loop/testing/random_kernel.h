// Random well-formed kernels, for laws: printed and parsed, folded or not, interpreted or compiled,
// they mean the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "strata/loop/interpreter.h"
#include "strata/loop/loop.h"

namespace strata::loop::testing {

struct RandomOptions {
  int statements = 60;  // about how many
  bool calls = false;   // of the functions of `random_functions`
};

/// The kernel of a seed: the same calls on the Builder whatever its options. Every opcode occurs
/// over the seeds; accesses stay inside the buffers, loops end, and no result depends on the sign
/// or payload of a NaN.
std::unique_ptr<Kernel> random_kernel(std::uint64_t seed, BuilderOptions build = {},
                                      RandomOptions options = {});
const RuntimeFunctions& random_functions();

/// Contents for its parameters: small numbers, edge values and random bits.
using Buffers = std::vector<std::vector<std::byte>>;
Buffers random_buffers(const Kernel& kernel, std::uint64_t seed);
std::vector<void*> pointers(Buffers& buffers);

/// Where two results differ, NaNs being all alike; empty if nowhere.
std::string difference(const Kernel& kernel, const Buffers& a, const Buffers& b);

}  // namespace strata::loop::testing
