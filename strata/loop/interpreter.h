// The reference meaning of a kernel: one instruction at a time, one lane at a time.
//
//   float x[3] = {1, 2, 3}, y[3];
//   void* parameters[] = {x, y};
//   interpret(kernel, parameters);
//
// Slow and checked: an access outside its buffer fails a check, and scratch buffers begin filled
// with 0xff bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "strata/loop/loop.h"

namespace strata::loop {

/// A runtime function on the bits of its scalars (see semantics.h).
using RuntimeFunction = std::function<std::uint64_t(std::span<const std::uint64_t>)>;
using RuntimeFunctions = std::map<std::string, RuntimeFunction>;

/// Runs all grid points in order. `parameters` are the buffers of `kernel.parameters()`; i1 takes a
/// byte, 0 or 1. The kernel is one that `verify` accepts.
void interpret(const Kernel& kernel, std::span<void* const> parameters,
               const RuntimeFunctions& functions = {});

}  // namespace strata::loop
