// What two kernels must share to share their code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/loop/loop.h"

namespace strata::compile {

/// The kernel's structure as bytes: everything the code depends on, with instructions and buffers
/// numbered in the order in which they are met, so that neither the name nor unused instructions
/// matter. Equal bytes, equal code.
std::string fingerprint(const loop::Kernel& kernel);

/// 32 hexadecimal digits of a 128-bit hash.
std::string digest(std::string_view bytes);

}  // namespace strata::compile
