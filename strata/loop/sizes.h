// Kernels whose code serves every size: the numbers that come from shapes stand in a buffer instead
// of the instructions.
//
//   SizedKernel sized = with_sizes_apart(kernel);      // of f32[1000]
//   sized.kernel is one of with_sizes_apart(of f32[777]), too, with other numbers
//
// The kernel computes what it did, bit for bit, given one parameter more, the numbers. Extents of
// loops, offsets and steps between elements, and what indices are compared with and divided by are
// such numbers; 0, 1 and the width of strips are not, for code depends on them. How a kernel was
// built may depend on sizes in other ways (a rest of a loop, a block that a size fills): those are
// kernels of their own.
//
// What it costs: the machine multiplies where it would add constants, divides by numbers that it
// does not know, and masks the last strip of every loop.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "strata/loop/loop.h"

namespace strata::loop {

struct SizedKernel {
  /// Its last parameter is `numbers`, i64. Buffers are as large as a buffer may be, those of equal
  /// type and size still equal ones.
  std::unique_ptr<Kernel> kernel;
  std::vector<std::int64_t> numbers;
};

/// Of a kernel that `verify` accepts; so is what comes out.
SizedKernel with_sizes_apart(const Kernel& kernel);

}  // namespace strata::loop
