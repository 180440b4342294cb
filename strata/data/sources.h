// What `train_files` says: sources of text, blended by weights.
//
//   auto sources = data::parse_sources({"kjv/*.txt,0.5;python/**/*.py,0.3;notes.txt,log.txt"});
//   // three sources of weights 0.5, 0.3 and 1; the last one has two files
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::data {

struct Source {
  /// Short and unlike the others': the folder or file that its first pattern names ("kjv",
  /// "python", "notes").
  std::string name;
  /// Its part of train_files without the weight.
  std::vector<std::string> patterns;
  double weight = 1;
};

/// Each entry holds sources separated by ';', a source patterns separated by ',', at their end a
/// number that is its weight (1 when there is none). So a list of entries says the same as one text
/// with ';'. In names "\," and "\;" stand for a comma and a semicolon; an entry that is the name of
/// a file as it stands is that file. Code::invalid for none, and for a source without patterns.
Result<std::vector<Source>> parse_sources(const std::vector<std::string>& entries);

/// Weights of the sources from a step on.
struct WeightStage {
  std::int64_t step = 0;
  std::vector<double> weights;
};

/// What `train_files_weights` says: "STEP: W1, W2; STEP: ..." in rising order of steps. A list of
/// entries says the same as one text with ';'. Code::invalid for what is not of this form; whether
/// the weights make a blend is not looked at.
Result<std::vector<WeightStage>> parse_weight_stages(const std::vector<std::string>& entries);

/// The files that match, sorted, each once. `*`, `?` and `[a-z]` stand for parts of a name, `**`
/// for any number of folders, a leading
/// `~/` for the home. A plain name, or one of a file that is there, stands for itself, so that a
/// missing file is reported by whoever opens it. Files and folders that begin with a dot are
/// matched only by patterns that do. Code::not_found names a pattern without a match.
Result<std::vector<std::string>> expand_pattern(const std::string& pattern);

}  // namespace strata::data
