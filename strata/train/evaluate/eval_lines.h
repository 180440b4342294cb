// What an evaluation says in a log: MaxText's lines.
//
//   progress.line(eval_line(step, total(losses), {.experts = true}));
#pragma once

#include <cstdint>
#include <string>

#include "strata/train/evaluate/evaluate.h"

namespace strata::train {

/// What a model has beside the loss of its targets.
struct EvalParts {
  bool experts = false, further_tokens = false;
};

/// Behind a batch, counted from 0, of which `so_far` sums all until then: "Completed eval step: 1,
/// seconds: 0.123, running loss=4.321, running perplexity=75.264, running total_weights=64.0", with
/// further tokens ", running mtp_loss=0.321, running mtp_acceptance_rate=12.50%" at the end.
/// Source: MaxText's metric_logger.py.
std::string eval_batch_line(std::int64_t batch, double seconds, const SourceLoss& so_far,
                            const EvalParts& parts = {});

/// Behind the last: "Completed eval after train step 3, loss=4.321, perplexity=75.264,
/// total_weights=64.0, avg_z_loss=0.000", with experts ", avg_moe_lb_loss=0.010", with further
/// tokens ", avg_mtp_loss=0.321, avg_mtp_acceptance_rate=12.50%".
std::string eval_line(std::int64_t step, const SourceLoss& all, const EvalParts& parts = {});

/// Where that loss ends the run: "Training stopped: Target loss self.config.target_eval_loss=3.0 is
/// achieved." Source: MaxText's trainers/pre_train/train.py.
std::string target_line(double target_eval_loss);

}  // namespace strata::train
