// How well a model predicts the text that was kept from it, source by source, beside the simplest
// models.
//
//   Evaluator evaluator(config, model, data, held_out);
//   for (const SourceLoss& s : evaluator(params))
//     fmt::print("{}: {:.3f} nats/token, unigram {:.3f}\n", s.source, s.loss(), s.unigram_loss());
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
  /// Batches so far, and over them the losses of routers, of further tokens and of log(Z) as a step
  /// has them.
  std::int64_t batches = 0;
  double load_balance = 0, mtp_loss = 0, z_loss = 0;
  /// Adds what a model's answers came to: nats, batches, and what is counted with them.
  void add_losses(const SourceLoss& other);
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

/// The counts of tokens and pairs in a source's training part; in all of one that is not trained
/// on.
Ngram count_training_part(const data::Dataset& data, std::size_t source);

class Evaluator {
 public:
  /// Told behind each batch: the sums so far, over all sources.
  using OnBatch = std::function<void(const SourceLoss& so_far)>;
  /// `held_out` is what evaluations read (open_eval_data); of `data`, which is trained on, tokens
  /// are counted for the unigram model: of the same source, of all where `held_out` is of files of
  /// its own. Both are shared. Counts nothing yet.
  Evaluator(const Config& config, model::ModelPtr model, data::Dataset data,
            data::Dataset held_out);
  /// Each source that has an evaluation part, by at most eval_steps batches of it, in order.
  std::vector<SourceLoss> operator()(const tree::Tree& params, const OnBatch& on_batch = {});

 private:
  /// What the model has no part in: tokens, bytes, unigram nats; worked out once for each source.
  SourceLoss beginning(std::size_t source) const;
  void add_unigrams(std::size_t source, Ngram& to) const;
  std::int64_t batches(std::size_t source) const;
  void add(const tree::Tree& params, const Batch& batch, SourceLoss& to) const;
  std::int64_t most_batches_;
  bool apart_;  // files of their own are evaluated
  data::Dataset data_, held_out_;
  Eval function_, acceptance_;
  Evaluate with_parts_;  // in place of function_
  std::vector<SourceLoss> beginnings_;
};

}  // namespace strata::train
