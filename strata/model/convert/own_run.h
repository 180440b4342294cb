// A run of `strata train` on a model of its own, as a published one: config.json, names of weights,
// the tokenizer. Private to strata/model/convert.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::model::conversion {

/// What a run's configuration (the note "config" of its checkpoints) amounts to.
struct OwnRun {
  /// config.json of a Llama, or what decoder_block=published was given.
  std::string config;
  /// tokenizer.json and tokenizer_config.json of a run on bytes; others' tokenizer stays where it
  /// is.
  std::map<std::string, std::string> files;
  std::vector<std::string> notes;
};
/// Code::unsupported for a config.json whose factor of scores others do not read: that of a run
/// that began from a checkpoint of MaxText's, whose queries hold the factor.
Status check_scores(const std::string& config);
/// None for a text that is no configuration of a decoder_block that others know.
std::optional<OwnRun> own_run(const std::string& configuration);
/// "layers/query" as "layers/attention/query/kernel"; a path that is none of llama's as it is.
std::string published_path(const std::string& path);

}  // namespace strata::model::conversion
