// Which part of a buffer a part of a kernel's grid works on.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/loop/loop.h"

namespace strata::compile {

/// For each parameter of the kernel: whether grid points [p * g, (p + 1) * g), g = grid / parts,
/// touch nothing of it but elements [p * s, (p + 1) * s), s = size / parts, for each p < parts.
/// False where the kernel's indices do not show it, or where `parts` divides the grid or the size
/// with a rest.
std::vector<bool> accesses_own_slice(const loop::Kernel& kernel, std::int64_t slices);

}  // namespace strata::compile
