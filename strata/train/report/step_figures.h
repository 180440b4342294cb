// The figures of a step that its bits decide, and whether a step that is taken again has those that
// the run wrote down.
//
//   auto record = StepRecord::read("runs/first/metrics/metrics.jsonl");
//   std::string differs = record->check(31, step_figures(outcome, rate));
//   // "learning/lm_loss is 3.21 (the run had 3.4)" where the run had another step 31
//
// The loss of a step tells of the weights before it, param_norm of those behind it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/train/report/metrics.h"
#include "strata/train/step/step.h"

namespace strata::train {

/// learning/lm_loss, perplexity, total_weights, current_learning_rate, grad_norm and param_norm of
/// a step, of which `rate` is the learning rate.
Scalars step_figures(const Outcome& outcome, float rate);

/// The steps that a file of metrics tells of.
class StepRecord {
 public:
  /// A file that is not there tells of none.
  static Result<StepRecord> read(const std::string& path);
  /// Whether a line has the loss of this step.
  bool has(std::int64_t step) const { return lines_.count(step) > 0; }
  /// What differs between a step's line and these figures, as they are printed there: loss,
  /// learning rate and norms, those that the line has; the losses of both stand first. Empty where
  /// one of several lines has all of them, and where there is none.
  std::string check(std::int64_t step, const Scalars& figures) const;

 private:
  std::map<std::int64_t, std::vector<MetricsLine>> lines_;
};

}  // namespace strata::train
