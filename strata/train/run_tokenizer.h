// The tokenizer of a run, as the run's folder keeps it.
//
//   for (const auto& [name, bytes] : *tokenizer_files(config, tokenizer)) ...   // tokenizer.model
//   auto tokenizer = tokenizer_of_run("runs/a/checkpoints/10", config);
#pragma once

#include <map>
#include <memory>
#include <string>

#include "strata/base/result.h"
#include "strata/tokenizer/tokenizer.h"
#include "strata/train/config/config.h"

namespace strata::train {

/// What a run's folder keeps so that what it learned can be read wherever the folder goes, by name:
/// tokenizer.model of SentencePiece; tokenizer.json of Hugging Face's, with what stands beside it
/// in tokenizer_path of special tokens and chat templates. None of a tokenizer without a file, nor
/// of a published model that is tuned: its outcome has its own.
Result<std::map<std::string, std::string>> tokenizer_files(const Config& config,
                                                           const tokenizer::Tokenizer& tokenizer);

/// The tokenizer of a checkpoint: in its folder or in the run's, else where the configuration says.
Result<std::shared_ptr<const tokenizer::Tokenizer>> tokenizer_of_run(const std::string& checkpoint,
                                                                     const Config& config);

}  // namespace strata::train
