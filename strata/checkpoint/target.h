// Where a checkpoint that is a folder may be written at a user's word.
#pragma once

#include <string>

#include "strata/base/result.h"

namespace strata::checkpoint {

/// Whether a checkpoint that is a folder may be written at `path`, where it replaces what is there:
/// nothing, an empty folder or a checkpoint; in a bucket also what an interrupted save left.
/// Code::exists for a file, a run, a folder of checkpoints and any other folder. Programs that save
/// steps of their own (`any_format::save`, `orbax::Manager`) need not ask.
///
///     if (Status s = checkpoint::check_target("out/400"); !s.ok()) return s;
Status check_target(const std::string& path);

}  // namespace strata::checkpoint
