// Which checkpoints may be passed over.
#pragma once

#include <string>

#include "strata/base/result.h"

namespace strata::checkpoint {

/// Whether one that could not be loaded from a path may be passed over for an older one: its bytes
/// are not, or no longer, what was written. One that may not be read, that a newer Strata wrote, or
/// that lies in a bucket whose request failed is as whole as before: who went on from an older one
/// would replace it.
bool is_damage(const std::string& path, const Status& status);

}  // namespace strata::checkpoint
