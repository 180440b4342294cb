// The options of commands that draw tokens: --temperature, --top_k and the like.
#pragma once

#include <cstdint>
#include <optional>

#include "strata/base/command_line.h"
#include "strata/engine/sampling.h"

namespace strata::cli {

/// What the user gave; the model's own wishes hold for what was not given.
struct SamplingOptions {
  std::optional<double> temperature, top_p, min_p, repetition_penalty, frequency_penalty,
      presence_penalty;
  std::optional<std::int64_t> top_k;
  std::uint64_t seed = 0;

  /// Adds them to a command; this must outlive its parsing.
  void add_to(CommandLine& command);
  engine::Sampling over(engine::Sampling usual) const;
};

}  // namespace strata::cli
