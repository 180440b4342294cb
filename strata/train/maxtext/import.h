// A run that begins from a checkpoint of MaxText's: load_parameters_path and load_full_state_path.
//
//   maxtext::import_checkpoint(resolved, config);     // before train::run(config, progress)
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/train/config/config.h"
#include "strata/train/maxtext/config.h"

namespace strata::train::maxtext {

/// The path of a checkpoint of MaxText's own that a command line names; empty where it names none,
/// or a published model.
std::string imported_path(const Resolved& resolved);
/// Writes the first checkpoint of the run that `config` describes, of a whole state under the step
/// that it has seen, of parameters as step 0, so that the run goes on from it. Does nothing where
/// no path is named and where the run has checkpoints already, as upstream. Codes of
/// open_checkpoint, params_of, state_of, open_data and any_format::save. Throws ConfigError where
/// checkpoints are off, and Error for a family that has no mapping.
Status import_checkpoint(const Resolved& resolved, const Config& config);

}  // namespace strata::train::maxtext
