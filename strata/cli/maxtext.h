// MaxText's command lines: `strata train`, `decode`, `train-compile`, `config explain`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "strata/cli/command.h"
#include "strata/train/maxtext/config.h"

namespace strata::cli {

/// Runs an action; a configuration that MaxText would refuse is told as MaxText tells it: between
/// lines of 80 '=', with exit status 2, and in /dev/termination-log where a cluster has mounted
/// one.
int as_maxtext(const std::function<int()>& action);

/// What `[FILE.yml] key=value ...` means, with MaxText's warnings on stderr. Throws
/// train::maxtext::Refused.
train::maxtext::Resolved resolve_maxtext(const std::vector<std::string>& arguments);

/// The run that it asks for. Says what has no effect, logs each key where log_config asks for it,
/// and writes the file of dataset_type=synthetic. Throws train::ConfigError for what is not built.
train::Config maxtext_run(const std::vector<std::string>& arguments);

}  // namespace strata::cli
