// Any step of a run, computed again from the nearest one that was kept.
//
//   auto c = train::replay("runs/first", 1234, progress);    // as the run had it, to the bit
//
// Every step depends on the state and its number alone (run.h), so between two checkpoints nothing
// needs to be kept. The run's folder is only read.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/progress.h"
#include "strata/base/result.h"
#include "strata/checkpoint/checkpoint.h"

namespace strata::train {

/// The checkpoint of a step of the run whose folder is `run`: parts "params" and "optimizer" and
/// the notes that a save at that step had, but for losses on what was kept for evaluation. Begins
/// from the newest whole checkpoint at or before the step, else from the run's first weights. A run
/// over a mesh is replayed over as many CPU devices of this process, however many processes shared
/// them. Code::not_found where there is no such run; Code::invalid where the data is not what the
/// run read, since other data gives other weights. Throws ConfigError for a step that the
/// configuration does not reach, Error where this process has another number of devices already.
Result<checkpoint::Checkpoint> replay(const std::string& run, std::int64_t step,
                                      Progress& progress);

}  // namespace strata::train
