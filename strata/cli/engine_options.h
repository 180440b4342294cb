// The options of commands that run the decoding engine: --speculate, --kv_cache_dtype.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/command_line.h"
#include "strata/base/result.h"
#include "strata/engine/engine.h"
#include "strata/engine/language_model.h"

namespace strata::cli {

struct EngineOptions {
  std::string speculate = "none", kv_cache_dtype = "auto";
  std::int64_t speculative_tokens = 4;

  /// Adds them to a command; this must outlive its parsing.
  void add_to(CommandLine& command);
  /// Puts what they say into the options of an engine that runs `lm`; loads a draft model where one
  /// is named. Code::invalid where its tokens are others.
  Status put_into(engine::Options& options, const engine::LanguageModel& lm) const;
};

/// "of 120 guessed tokens 75 were right"; empty where none was guessed.
std::string guesses_of(const engine::Statistics& statistics);

}  // namespace strata::cli
