// The mark at the end of a save to a bucket.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.h"

namespace strata::checkpoint {

/// Writes the object that makes a checkpoint of what is beside it, on the condition that it is
/// not there: Code::exists where another process saved the same step meanwhile. A store that knows
/// no conditions is asked without. `path` is an object's.
Status commit_object(const std::string& path, std::string_view bytes);

}  // namespace strata::checkpoint
