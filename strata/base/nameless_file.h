// A file without a name for bytes that are larger than memory, or of an object in a bucket.
//
//   auto fd = nameless_file();
//   if (!fd) return fd.status();  // "/tmp: cannot make a temporary file (...): No space left ..."
#pragma once

#include "strata/base/result.h"

namespace strata {

/// Opens an empty file for reading and writing in the folder for temporary files (TMPDIR, else
/// /tmp), which has no name: its room is free again when the descriptor is closed, however the
/// process ends. The caller closes it. Fails with the folder's name and what the system says:
/// Code::not_found, denied, no_space, else io.
Result<int> nameless_file();

}  // namespace strata
