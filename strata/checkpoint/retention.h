// Which checkpoints below a root stay when one has been added.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/result.h"
#include "strata/checkpoint/contents.h"

namespace strata::checkpoint {

/// Removes what earlier saves left unfinished below a root, and the checkpoints before step
/// `saved`, which is durable, that need not be kept; of whatever format.
Status tidy(const std::string& root, std::int64_t saved, Keep keep);

/// Removes one checkpoint, whole or not, of whatever format; none there is no failure. A crash in
/// between leaves it, or what no reader takes for one.
Status remove_step(const std::string& folder);

}  // namespace strata::checkpoint
