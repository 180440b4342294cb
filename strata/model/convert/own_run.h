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
  /// The tokenizer: tokenizer.json and tokenizer_config.json of bytes, what the run's folder keeps
  /// of others; of SentencePiece its tokenizer.model too.
  std::map<std::string, std::string> files;
  std::vector<std::string> notes;
};
/// A config.json, and the factor of scores that the weights of queries hold, by which they are
/// divided to go with it.
struct UsualScores {
  std::string config;
  float in_queries = 1;
};
/// Of a run that began from a checkpoint of MaxText's llama, mistral, mixtral or gemma, the queries
/// hold the factor of scores head_dim^-1/2, which its config.json says by query_pre_attn_scalar=1.
/// Others do not read that key: this leaves it out, and gives back the factor. Dividing is exact
/// for a head_dim that is a power of 4; else each number is rounded once. Other configurations stay
/// as they are.
UsualScores with_usual_scores(const std::string& config);
/// What to tell of queries that were divided.
std::string note_of_queries(float factor);
/// Whether a weight's path is that of queries.
bool is_query(const std::string& path);
/// Of a configuration and the folder of the checkpoint that it stands in, which may be in a run's.
/// None for a text that is no configuration of a decoder_block that others know.
std::optional<OwnRun> own_run(const std::string& configuration, const std::string& folder);
/// "layers/query" as "layers/attention/query/kernel"; a path that is none of llama's as it is.
std::string published_path(const std::string& path);

}  // namespace strata::model::conversion
