// How well a model predicts the text that was kept from it, source by source, beside the simplest
// models.
//
//   Evaluator evaluator(config, data);
//   for (const SourceLoss& s : evaluator(params))
//     fmt::print("{}: {:.3f} nats/token, unigram {:.3f}\n", s.source, s.loss(), s.unigram_loss());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/dataset.h"
#include "strata/train/config/config.h"
#include "strata/train/evaluate/ngram.h"
#include "strata/train/step/step.h"

namespace strata::train {

/// Sums over the targets of a source's evaluation part.
struct SourceLoss {
  std::string source;
  double nats = 0;          // under the model
  double unigram_nats = 0;  // under the frequencies of tokens in the source's training part
  std::int64_t tokens = 0;
  std::int64_t bytes = 0;  // of the text that the targets stand for
  /// Config::mtp_eval_target_module: tokens predicted further ahead, and how many of them are what
  /// the model itself says once it has read so far.
  double further = 0, accepted = 0;
  /// In percent, as MaxText has it.
  double acceptance_rate() const { return further > 0 ? 100 * accepted / further : 0; }
  double loss() const { return nats / static_cast<double>(tokens); }
  double loss_per_byte() const { return nats / static_cast<double>(bytes); }
  double unigram_loss() const { return unigram_nats / static_cast<double>(tokens); }
  /// 0.25: a quarter below the unigram model's.
  double below_unigram() const { return 1 - nats / unigram_nats; }
};

/// All sources together.
SourceLoss total(const std::vector<SourceLoss>& sources);
/// A line for each source and one of column names: loss for each token and byte, and how far below
/// the unigram model's.
std::string to_table(const std::vector<SourceLoss>& sources);

/// The counts of tokens and pairs in a source's training part.
Ngram count_training_part(const data::Dataset& data, std::size_t source);

class Evaluator {
 public:
  /// `data` is shared. Counts nothing yet.
  Evaluator(const Config& config, data::Dataset data);
  Evaluator(const Config& config, model::ModelPtr model, data::Dataset data);
  /// Each source that has an evaluation part, by at most eval_steps batches of it, in order.
  std::vector<SourceLoss> operator()(const tree::Tree& params);

 private:
  /// What the model has no part in: tokens, bytes, unigram nats; worked out once for each source.
  SourceLoss beginning(std::size_t source) const;
  std::int64_t batches(std::size_t source) const;
  std::int64_t most_batches_;
  data::Dataset data_;
  Eval function_, acceptance_;
  std::vector<SourceLoss> beginnings_;
};

}  // namespace strata::train
