// Which checkpoints below a root stay when one has been added.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/result.h"
#include "strata/checkpoint/checkpoint.h"

namespace strata::checkpoint {

/// Removes what earlier saves left unfinished below a root, and the checkpoints before step
/// `saved`, which is durable, that need not be kept; of whatever format.
Status tidy(const std::string& root, std::int64_t saved, Keep keep);

}  // namespace strata::checkpoint
