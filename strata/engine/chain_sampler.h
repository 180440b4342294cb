// Draws of a request that has a chain of samplers (chain.h), one token after another.
//
//   ChainSampler sampler(sampling, prompt, vocabulary, noise);
//   Chosen next = sampler.draw(logits_V, {}, output, position, false);
//
// Noise is that of the compiled step, by seed, position and token. So a chain of the same stages in
// the same order as the step's draws the same tokens. All but Mirostat's aim is a function of
// prompt and output; the aim follows the tokens that were drawn, so draws behind guessed tokens are
// asked for one after the other, and only while the guesses before are right.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "strata/engine/chain.h"
#include "strata/engine/sampling.h"

namespace strata::engine {

struct Chosen {
  std::int32_t token = 0;
  /// As `logprobs_mode` says; for the engine's own mode, behind bias, penalties, DRY and the
  /// request's temperature (1 where it is 0), before all cuts.
  float logprob = 0;
  std::vector<float> table = {};  // (V) as above, of all tokens, where asked for
};

class ChainSampler {
 public:
  /// Noise (V) of a seed at a position of the output; it lives until the next call.
  using Noise = std::function<std::span<const float>(std::uint64_t seed, std::int64_t position)>;
  /// Tokens below `vocabulary` are drawn. `sampling.chain` must be given.
  ChainSampler(Sampling sampling, std::span<const std::int32_t> prompt, std::int64_t vocabulary,
               Noise noise);
  /// The token behind this output. `bias` (V), or nothing, is added first; one token at least must
  /// be allowed.
  Chosen draw(std::span<const float> logits_V, std::span<const float> bias_V,
              std::span<const std::int32_t> output, std::int64_t position, bool with_table);

 private:
  void penalise(chain::Candidates& all, std::span<const std::int32_t> output) const;
  void apply(Chain::Stage stage, chain::Candidates& all, std::span<const std::int32_t> output,
             std::int64_t position) const;
  Sampling sampling_;
  std::vector<std::int32_t> prompt_;
  std::vector<bool> in_prompt_;
  std::int64_t vocabulary_;
  Noise noise_;
  double mu_;
};

/// Noise as the compiled step's, of a vocabulary.
ChainSampler::Noise compiled_noise(std::int64_t vocabulary);

}  // namespace strata::engine
