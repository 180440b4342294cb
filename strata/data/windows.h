// The windows of one source as records that a pipeline reads by number. Private to this room.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "strata/data/dataset_contents.h"
#include "strata/data/dataset_options.h"
#include "strata/data/examples.h"
#include "strata/data/megatron_samples.h"
#include "strata/data/row.h"
#include "strata/data/source.h"

namespace strata::data {

/// Record w is window w of training: a dict of tokens and targets, i32[S]; weights, f32[S], where
/// some positions have no target; segments and positions, i32[S], of packed conversations.
class Windows : public RecordSource {
 public:
  explicit Windows(SourceInfo info) : info_(std::move(info)) {}
  const SourceInfo& info() const { return info_; }
  std::int64_t size() const override { return info_.windows; }
  /// Number, first token, document and file of a window of training.
  virtual ElementPlace place(std::int64_t window) const = 0;
  /// As `Dataset::where`.
  virtual std::vector<TokenPlace> where(std::int64_t window) const = 0;
  /// The windows of the evaluation part; all have weights.
  virtual std::int64_t eval_windows() const = 0;
  virtual Element eval_window(std::int64_t i) const = 0;
  /// Tokens from .. of the source.
  virtual void copy(std::int64_t from, std::span<std::int32_t> out) const = 0;

 protected:
  SourceInfo info_;
};

/// Windows of a row of tokens whose part for evaluation begins at token info.train_tokens.
std::shared_ptr<const Windows> text_windows(Row row, SourceInfo info,
                                            const DatasetOptions& options);
/// Rows of conversations.
std::shared_ptr<const Windows> example_windows(Examples examples, SourceInfo info,
                                               const DatasetOptions& options);
/// Samples in Megatron's order. info.windows is their number, at least as many as were asked for.
std::shared_ptr<const Windows> megatron_windows(MegatronSamples samples, SourceInfo info,
                                                const DatasetOptions& options);

/// A row of nothing, with weights.
Element empty_window(const DatasetOptions& options, bool segments);

}  // namespace strata::data
