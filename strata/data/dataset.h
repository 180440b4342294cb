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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/progress.h"
#include "strata/base/result.h"
#include "strata/data/sources.h"
#include "strata/tokenizer/chat_template/chat_template.h"
#include "strata/tokenizer/tokenizer.h"
#include "strata/type/literal.h"

namespace strata::data {

class MapDataset;

/// targets[b, s] is the token after tokens[b, s]; 0 where there is none.
struct Batch {
  Literal tokens;   // i32[B, S]
  Literal targets;  // i32[B, S]
  /// f32[B, S]: 1 for each target, 0 where there is none. Absent where every position has one,
  /// which depends on the window mode and on whether the batch is of evaluation, never on the step.
  std::optional<Literal> weights;
  /// i32[B, S], of packed conversations: which document of its row a token is of, from 1, 0 for
  /// none; and its place in that document. Absent where a row is one document.
  std::optional<Literal> segments, positions;
  /// Their sum: the targets that count.
  std::int64_t total_weights = 0;
};

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
  /// The share of each source, at its end, that is kept for evaluation: at least 0, below 1. The
  /// cut is between two documents where the nearest such place changes that share by at most a
  /// quarter, else within one.
  double eval_fraction = 0.02;
  /// Sequences of a step, and their positions.
  std::int64_t batch = 8, length = 256;
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

/// What is known of a source.
struct SourceInfo {
  std::string name;                   // "kjv"
  std::vector<std::string> patterns;  // as given
  std::vector<std::string> files;     // that matched
  double weight = 1;                  // as given
  double share = 1;                   // of the first elements, 0 to 1
  std::int64_t documents = 0, tokens = 0;
  std::int64_t train_tokens = 0, eval_tokens = 0;
  std::int64_t windows = 0;    // of training, in one epoch
  std::uint32_t checksum = 0;  // of all tokens
};

/// Where a source stands before a step.
struct SourcePosition {
  std::int64_t elements = 0;  // read so far
  std::int64_t epoch = 0;     // the one that the next element is of
  std::int64_t index = 0;     // that element's place in the epoch
};

/// Where an element comes from.
struct ElementPlace {
  std::size_t source = 0;
  std::int64_t epoch = 0;
  std::int64_t window = 0;    // number in the source
  std::int64_t token = 0;     // the first one's place in the source
  std::int64_t document = 0;  // the one that this token is of
  std::string file;           // which holds that document
};

/// What a stretch of a row is of: tokens of one record.
struct TokenPlace {
  /// Positions in the row: first .. first + count - 1.
  std::int64_t first = 0, count = 0;
  std::string file;
  /// The document's number in the file, from 0; empty texts are none.
  std::int64_t record = 0;
  /// The first token's place in the document.
  std::int64_t token = 0;
  /// Where each token begins in the record's text, in bytes, and where the last one ends: count + 1
  /// numbers. The separator behind a document has no bytes. Of tokens that a file holds as such,
  /// the bytes that the tokenizer makes of them. Of conversations, bytes of the text that the
  /// template makes of one.
  std::vector<std::int64_t> bytes;
};

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
