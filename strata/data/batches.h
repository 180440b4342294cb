// Batches of windows of a text, each computed from its number alone.
//
//   data::Batches batches(corpus.train(), {.batch = 8, .length = 256, .seed = 0});
//   data::Batch b = batches.at(step);    // tokens and targets, i32[8, 256]
//
// So a run that goes on from a checkpoint needs no state of its data but the step.
#pragma once

#include <cstdint>
#include <string_view>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::data {

/// targets[b, s] is the token after tokens[b, s].
struct Batch {
  Literal tokens;   // i32[B, S]
  Literal targets;  // i32[B, S]
};

struct BatchOptions {
  std::int64_t batch = 8;
  std::int64_t length = 256;
  std::uint32_t seed = 0;
  /// Windows in the order of the text instead; for evaluation.
  bool in_order = false;
};

/// Window w holds the S + 1 tokens from w * S on, so windows overlap by one token and every token but the first is a
/// target once per epoch. Element k = step * B + b is window index_shuffle(k mod n, n - 1, seed + k / n) of n = (tokens -
/// 1) / S: the order of Grain's `MapDataset.shuffle(seed).repeat()`. The text must outlive this.
class Batches {
 public:
  /// Code::invalid when the text is too short for one window, or, in order, for one batch.
  static Result<Batches> make(std::string_view text, const BatchOptions& options);
  Batch at(std::int64_t step) const;
  /// Windows in one epoch.
  std::int64_t windows() const { return windows_; }
  /// Whole batches in one epoch.
  std::int64_t batches() const { return windows_ / options_.batch; }
  /// The window that is element k.
  std::int64_t window(std::int64_t k) const;

 private:
  Batches(std::string_view text, const BatchOptions& options, std::int64_t windows) : text_(text), options_(options), windows_(windows) {}
  std::string_view text_;
  BatchOptions options_;
  std::int64_t windows_;
};

}  // namespace strata::data
