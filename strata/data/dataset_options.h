// What a data set (dataset.h) is made of: its files, windows and order, and what becomes of
// conversations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/progress.h"
#include "strata/data/sources.h"
#include "strata/tokenizer/chat_template/chat_template.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::data {

/// How the T tokens of a source become windows of S = `length`.
enum class WindowMode {
  /// Window w holds tokens w*S .. w*S + S: one more than it has positions, the next window's first.
  /// Every position has a target, and
  /// every token but the first is a target once an epoch; only the last (T - 1) mod S tokens, which
  /// fill no window, are none. As
  /// Megatron does. (T - 1) / S windows.
  overlapping,
  /// Window w holds tokens w*S .. w*S + S - 1 and nothing else: its last position has no target, so
  /// one target in S is lost, besides
  /// the T mod S tokens at the end. As MaxText does (inputs, targets shifted by one, the last one
  /// masked). T / S windows.
  disjoint,
};

/// Who decides the order of a run's windows.
enum class DataOrder {
  /// Each source's windows permuted anew every epoch, sources by `Mix`.
  native,
  /// Megatron-LM's: document, sample and shuffle indices and blend of megatron-core for the same
  /// files, seed and weights (megatron_samples.h).
  megatron,
};

/// What becomes of conversations that are longer than a row: TRL's names, and two more.
enum class Truncation { keep_start, keep_end, drop, refuse };

struct DatasetOptions {
  /// As of `parse_sources`: text, JSONL (.jsonl) and token files.
  std::vector<std::string> train_files;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer =
      std::make_shared<tokenizer::ByteTokenizer>();
  /// JSONL: the member that holds the text; "messages" or "prompt,completion" for conversations
  /// (conversations.h), each a document of its own, of which the last ones are kept for evaluation.
  std::string column = "text";
  /// The share of each source, at its end, that is kept for evaluation: at least 0, at most 1,
  /// where nothing is trained on and there is no batch(step). The cut is between two documents
  /// where the nearest such place changes that share by at most a quarter, else within one.
  double eval_fraction = 0.02;
  /// Sequences of a step, and their positions.
  std::int64_t batch = 8, length = 256;
  /// Sequences of a batch of evaluation; 0: as of a step.
  std::int64_t eval_batch = 0;
  WindowMode window_mode = WindowMode::overlapping;
  /// Megatron's order needs sources of one .bin/.idx each and overlapping windows. Its
  /// eval_fraction counts sequences, as Megatron's split does, and its indices depend on `samples`.
  DataOrder order = DataOrder::native;
  /// Megatron's order: the sequences of the whole run, steps * batch; there are no more. Of a
  /// single source 0 stands for one epoch.
  std::int64_t samples = 0;
  /// Weights that replace those of `train_files` from a step on, in rising order of steps; every
  /// source goes on where it stood. Native order only.
  std::vector<WeightStage> weight_stages = {};
  /// Conversations: what writes messages; whether answers alone are learned; whether a row holds
  /// several, by best fit; what becomes of long ones.
  std::optional<tokenizer::ChatTemplate> chat_template = std::nullopt;
  bool answers_only = true, packing = true;
  Truncation truncation = Truncation::keep_start;
  std::uint32_t seed = 0;
  /// Native order: whether each epoch has its own order of a source's windows; without, they come
  /// as they stand in it.
  bool shuffle = true;
  /// Every step has the first step's batch: for measuring steps without data, and for overfitting.
  bool reuse_batch = false;
  /// The model's vocabulary, which the tokenizer's must fit into; 0 for any.
  std::int64_t vocab_size = 0;
  /// Where tokens of texts are kept for the next run, named by what is in the texts; empty for
  /// nowhere. Byte tokens are never kept.
  std::string cache_folder = standard_cache_folder();
  /// Says how far reading has come.
  Progress* progress = nullptr;

  /// $STRATA_CACHE_DIR/tokens, else ~/.cache/strata/tokens; "" where STRATA_CACHE_DIR is set to
  /// nothing.
  static std::string standard_cache_folder();
};

}  // namespace strata::data
