// Byte-level BPE tokenizers between tokenizer.json and the keys tokenizer.ggml.* of GGUF. Private
// to strata/model/convert.
#pragma once

#include <map>
#include <string>

#include "strata/checkpoint/gguf.h"

namespace strata::model::conversion {

/// Files of a Hugging Face directory by their names: tokenizer.json, tokenizer_config.json,
/// generation_config.json; without the first where GGUF's keys are of a tokenizer that this does
/// not know (`why` says which).
std::map<std::string, std::string> tokenizer_files(const checkpoint::GgufMetadata& metadata,
                                                   std::string& why);
/// The keys that these files amount to. Throws Error for a tokenizer.json of another kind (its
/// model, its pre-tokenizer), by name.
checkpoint::GgufMetadata tokenizer_keys(const std::map<std::string, std::string>& files);

}  // namespace strata::model::conversion
