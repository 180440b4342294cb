// Which checkpoints may be passed over.
#pragma once

#include <string>

#include "strata/base/result.h"

namespace strata::checkpoint {

/// Whether a run may resume from an older checkpoint because the one at `path` failed to load with
/// `status`: true if its bytes are not, or no longer, what a save wrote. False for a checkpoint
/// that the process may not read, that a newer Strata wrote, or in a bucket whose request failed:
/// it is intact, and a run that resumed from an older one would overwrite it.
bool is_damage(const std::string& path, const Status& status);

}  // namespace strata::checkpoint
