// Batches of a blend of texts, each computed from its number alone.
//
//   auto data = data::Dataset::open({.train_files = {"kjv/*.txt,0.5;python/**/*.py,0.5"}, .batch =
//   8, .length = 256}); if (!data) return fail(data.status()); data::Batch b = data->batch(step);
//   // tokens and targets, i32[8, 256] data->state(step)                           // JSON for a
//   checkpoint
//
// Step by step: text files are read, tokenised and joined to one row of tokens for each source,
// every document followed by the separator; the end of the row is kept for evaluation, the rest is
// cut into windows; element k of the run is a window of the source that `Mix` names for k, in that
// source's own order of its own epoch; a batch is `batch` elements in turn. Nothing is carried from
// batch to batch, so a run that goes on from a checkpoint needs the step alone, and no number of
// threads changes anything.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/dataset_contents.h"
#include "strata/data/dataset_options.h"
#include "strata/data/sources.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::data {

class MapDataset;

/// Immutable; copies share everything and may be used by several threads at once.
class Dataset {
 public:
  /// Reads all sources. Fails with Code::not_found or Code::invalid and a message that names the
  /// file, key or source: a pattern without a match, no text at all, bytes outside UTF-8, weights
  /// that make no blend, a tokenizer larger than vocab_size, token files of another tokenizer, a
  /// source too short for one window; Code::corrupt for a damaged token file.
  static Result<Dataset> open(const DatasetOptions& options);

  /// One source of texts in memory, each a document; train_files is not read.
  static Result<Dataset> of_documents(const std::vector<std::string>& documents,
                                      const DatasetOptions& options);

  /// Elements step * B .. step * B + B - 1. Needs step >= 0.
  Batch batch(std::int64_t step) const;
  /// Batches that hold all windows of a source's evaluation part in order; 0 when it has fewer than
  /// two tokens.
  std::int64_t eval_batches(std::size_t source) const;
  /// One of them, with weights. What is left of the last one has no targets, so that with
  /// overlapping windows each token but the first is a target once.
  Batch eval_batch(std::size_t source, std::int64_t i) const;

  std::span<const SourceInfo> sources() const;
  /// How often `steps` steps read a source: elements / windows; 0 for a source without windows.
  double epochs(std::size_t source, std::int64_t steps) const;
  /// Tokens from .. from + out.size() - 1 of a source; those before `train_tokens` are trained on.
  void copy(std::size_t source, std::int64_t from, std::span<std::int32_t> out) const;
  SourcePosition position(std::size_t source, std::int64_t step) const;
  ElementPlace element(std::int64_t k) const;
  /// What the tokens of element k are of, and the target behind the last one where it has one, in
  /// order; of conversations each one's tokens, its number among those of the file for a record.
  std::vector<TokenPlace> where(std::int64_t k) const;
  const tokenizer::Tokenizer& tokenizer() const;
  const DatasetOptions& options() const;

  /// What a checkpoint notes before `step`, as one JSON object: format, step, tokenizer, windows,
  /// seed, and of each source its name, weight, tokens, checksum, elements read, epoch and place in
  /// it.
  std::string state(std::int64_t step) const;
  /// The batches of training as a graph of pipeline nodes: element `step` is what batch(step) is
  /// of, a dict of tokens, targets and what else a Batch has. Reading on from any step costs
  /// nothing: an iterator's state is the step.
  ///
  ///   IterDataset batches = data.graph().to_iter_dataset({.num_threads = 4});
  MapDataset graph() const;
  /// What differs between the data that wrote `state` and this: sentences separated by "; ". Empty
  /// when every batch from that step on is the one that the other run would have read, but for
  /// weights that change at that step or later.
  std::string check_state(const std::string& state) const;

 private:
  struct Parts;
  static Result<std::shared_ptr<Parts>> begin(const DatasetOptions& options,
                                              const std::vector<double>& weights);
  static Result<Dataset> open_megatron(std::shared_ptr<Parts> parts,
                                       const std::vector<Source>& sources);
  explicit Dataset(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace strata::data
