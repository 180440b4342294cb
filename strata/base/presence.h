// Whether something is at a path, where "no" has to be true.
//
//   auto there = is_there("gs://bucket/run/7/manifest.json");
//   if (!there) return there.status();          // nobody knows: the request failed
//   if (!*there) ... begin anew ...
//
// `file_exists` answers the same where a failure may be an exception.
#pragma once

#include <string>

#include "strata/base/result.h"

namespace strata {

/// Whether a file, a folder, or an object or a prefix of objects has this path. What cannot be
/// found out is a failure and no "no": Code::denied for a folder that may not be entered, the
/// store's code for a request that failed, Code::unsupported for a scheme that nobody registered.
Result<bool> is_there(const std::string& path);

}  // namespace strata
