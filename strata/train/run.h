// A training run from its first step, or from its newest checkpoint, to its last.
//
//   Progress progress(STDERR_FILENO);
//   auto result = train::run(config, progress);
//
// base_output_directory/run_name holds all of a run: config.yml, configurations.jsonl,
// checkpoints/STEP/, metrics/metrics.jsonl, tensorboard/, loss.png. The same configuration goes on
// from the newest whole checkpoint, with the bits that an unbroken run has: every step depends on
// the state and its number alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "strata/base/progress.h"
#include "strata/base/result.h"
#include "strata/train/config/config.h"

namespace strata::train {

struct RunResult {
  enum class Outcome {
    done,            // all steps are completed
    target_reached,  // an evaluation's loss is no higher than target_eval_loss
    time_over,       // max_seconds have passed
    interrupted,     // SIGINT or SIGTERM
    diverged,        // loss, gradients or weights are no numbers; nothing of that step is saved
  };
  Outcome outcome = Outcome::done;
  std::int64_t step = 0;   // completed steps
  float loss = 0;          // of the last one
  std::string checkpoint;  // the newest one's folder; empty when there is none
  std::string curve;       // the picture of the losses
  std::string adapter;     // the folder of the adapter in PEFT's layout; empty without `lora`
  std::string
      trouble;  // what is no number, with the path of the first such tensor; empty unless diverged
  double tokens_per_second = 0;
  /// Of a published model that is tuned: the loss on what was kept for evaluation before the first
  /// step and after the last, and the folder of the outcome as a model.
  std::optional<double> held_out_before, held_out_after;
  std::string model;
};

/// Throws ConfigError for a configuration that does not fit the text or the run's checkpoints.
/// Fails with the status of the text, of a disk that is full, or Code::exists when the run is under
/// way in another process.
Result<RunResult> run(const Config& config, Progress& progress);

}  // namespace strata::train
