// Megatron-LM's order of samples: which tokens of an indexed dataset sample j is, and which dataset
// of a blend element k is of. Equal to megatron-core's for the same files, seed and weights.
//
//   auto samples = MegatronSamples::open("corpus_text_document", {.length = 2048, .samples =
//   1000}); samples->window(3, row);      // 2049 tokens: inputs and, one later, targets
//
// Consecutive samples share one token, so that every token but the first is a target once an epoch.
// Sources: NVIDIA/Megatron-LM,
// megatron/core/datasets/{gpt_dataset.py,blended_dataset.py,helpers.cpp}.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "strata/data/format/megatron.h"

namespace strata::data {

/// The three indices of a dataset.
struct MegatronIndices {
  /// Documents in the order in which they are read, of all epochs.
  std::vector<std::int32_t> documents;
  /// Where each sample begins: a place in `documents`, and a token in that document; at the end
  /// where the last one ends.
  std::vector<std::array<std::int64_t, 2>> samples;
  /// Sample j is samples[shuffle[j]] .. samples[shuffle[j] + 1].
  std::vector<std::int64_t> shuffle;
};
struct MegatronOptions {
  /// Inputs of a sample; it has one token more.
  std::int64_t length = 0;
  /// How many samples are wanted, which decides the number of epochs; 0: one epoch.
  std::int64_t samples = 0;
  std::uint32_t seed = 1234;
  /// Of a file's sequences these alone: Megatron's split. -1: all of them.
  std::int64_t first_sequence = 0, sequences = -1;
};
/// Of documents of these lengths. Throws Error for a length below 1, and for lengths that sum to
/// less than one sample's in all epochs.
MegatronIndices megatron_indices(std::span<const std::int32_t> lengths,
                                 const MegatronOptions& options);

/// Of each element the dataset, and the number among those of it.
struct MegatronBlend {
  std::vector<std::int16_t> source;
  std::vector<std::int64_t> sample;
};
/// Each element is of the dataset that is farthest behind its weight's share, of equal ones the
/// first. Throws Error for weights that are no numbers from 0 on, or all 0. The weights are taken
/// as they are.
MegatronBlend megatron_blend(std::span<const double> weights, std::int64_t size);
/// The same among those that still have some of `sizes` samples.
MegatronBlend megatron_exhaustive_blend(std::span<const std::int64_t> sizes);
/// How many samples Megatron makes of a dataset of this share of a blend of `size`:
/// ceil(ceil(size weight) * 1.005).
std::int64_t megatron_blend_samples(std::int64_t size, double weight);

/// numpy.random.RandomState(seed).shuffle of a list.
class NumpyRandomState {
 public:
  explicit NumpyRandomState(std::uint32_t seed);
  void shuffle(std::span<std::int32_t> values);
  void shuffle(std::span<std::int64_t> values);

 private:
  std::uint32_t next();
  std::uint64_t interval(std::uint64_t most);
  template <class T>
  void shuffle_any(std::span<T> values);
  std::array<std::uint32_t, 624> state_{};
  std::size_t at_ = 624;
};

/// The samples of one file.
class MegatronSamples {
 public:
  /// Codes of MegatronFile::open; Code::invalid for a file whose tokens are no integers, or too
  /// few.
  static Result<MegatronSamples> open(const std::string& path, const MegatronOptions& options);
  /// At least as many as were asked for.
  std::int64_t size() const { return static_cast<std::int64_t>(indices_.shuffle.size()); }
  std::int64_t length() const { return options_.length; }
  const MegatronIndices& indices() const { return indices_; }
  /// The length + 1 tokens of sample j, 0 <= j < size().
  void window(std::int64_t j, std::span<std::int64_t> tokens) const;
  /// A piece of a sample: tokens begin .. begin + count of a document.
  struct Piece {
    std::int64_t document = 0, begin = 0, count = 0;
  };
  std::vector<Piece> pieces(std::int64_t j) const;
  const MegatronFile& file() const { return file_; }

 private:
  MegatronSamples(MegatronFile file, MegatronOptions options, MegatronIndices indices)
      : file_(std::move(file)), options_(options), indices_(std::move(indices)) {}
  MegatronFile file_;
  MegatronOptions options_;
  MegatronIndices indices_;
};

}  // namespace strata::data
