// Those subcommands of `strata checkpoint` that write.
#pragma once

#include <functional>

#include "strata/base/command_line.h"

namespace strata::cli {

/// Adds convert, reshard, prune and materialize.
void add_checkpoint_writers(CommandLine& checkpoint, std::function<int()>& action);

}  // namespace strata::cli
