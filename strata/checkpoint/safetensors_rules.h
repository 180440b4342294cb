// What the safetensors format asks of its bytes (private to this room).
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::checkpoint {

/// So many bytes of header are read at most, as by the safetensors package.
inline constexpr std::uint64_t kMostHeader = 100u << 20;

/// Code::corrupt where a boolean tensor holds a byte that is neither 0 nor 1.
Status check_booleans(const std::string& name, const Literal& tensor, const std::string& file);

}  // namespace strata::checkpoint
