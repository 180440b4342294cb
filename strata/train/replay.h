// Any step of a run, computed again from the nearest one that was kept.
//
//   auto c = train::replay("runs/first", 1234, progress);    // as the run had it, to the bit
//   save(c->checkpoint);
//
// Every step depends on the state and its number alone (run.h), so between two checkpoints nothing
// needs to be kept. What was not the run's is refused: the data is compared with what saves say of
// it, each step with its line of metrics. The run's folder is only read.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/progress.h"
#include "strata/base/result.h"
#include "strata/checkpoint/checkpoint.h"

namespace strata::train {

/// A step of a run, computed again.
struct Replayed {
  /// Parts "params" and "optimizer" and the notes that a save at that step had, but for losses on
  /// what was kept for evaluation.
  checkpoint::Checkpoint checkpoint;
  /// Steps that were taken again, and those of them that the run's metrics have no line of, so that
  /// nothing says whether they are the run's.
  std::int64_t steps = 0, unchecked = 0;
};

/// A step of the run whose folder is `run`. Begins from the newest whole checkpoint at or before
/// the step, else from the run's first weights. Steps are taken under the configuration that the
/// run noted of them (configurations.h), from one to the next as a run goes on from a checkpoint;
/// those that it noted none of, under that of the first save after them. A run over a mesh is
/// replayed over as many CPU devices of this process, however many processes shared them.
///
/// Code::not_found where there is no such run; Code::invalid where the data is not what the run
/// noted of it, or what the nearest saves say where it noted nothing, since other data gives other
/// weights, and where a step has another loss, learning rate or norm than the run's metrics tell;
/// Code::corrupt where the notes are. Throws ConfigError for a step that the configuration does not
/// reach and for another published base, Error where this process has another number of devices
/// already.
Result<Replayed> replay(const std::string& run, std::int64_t step, Progress& progress);

}  // namespace strata::train
