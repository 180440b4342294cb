// Whether what a model writes belongs where its prompt came from.
//
//   for (const DomainSample& s : write_samples(generator, data, {.samples = 10}))
//     ... s.text goes on from s.prompt, which is of source s.source; the bigram models give it to
//     s.judged
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "strata/data/dataset.h"
#include "strata/train/evaluate/generate.h"
#include "strata/train/evaluate/ngram.h"

namespace strata::train {

struct DomainSample {
  std::size_t source = 0, judged = 0;
  std::string prompt, text;
};

struct DomainOptions {
  /// Of each source.
  std::int64_t samples = 10;
  /// Tokens of a prompt, taken from the evaluation part of its source.
  std::int64_t prompt_tokens = 8;
  /// Called before each sample with its number, from 0 on, and how many there are.
  std::function<void(std::int64_t number, std::int64_t of)> progress = {};
  /// Seeds and temperature of the samples: sample i of the run has seed `generate.seed + i`.
  GenerateOptions generate = {};
};

/// The source whose bigram model gives the text the least nats; the prompt has no part in it. One
/// model for each source, of its training part.
std::size_t judge(const std::vector<Ngram>& models, std::span<const std::int32_t> text);

/// Samples of every source that has an evaluation part, in order.
std::vector<DomainSample> write_samples(const Generator& generator, const data::Dataset& data,
                                        const DomainOptions& options);

}  // namespace strata::train
