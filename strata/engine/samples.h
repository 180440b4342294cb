// Several outputs of one prompt: the best of independent samples, and beam search.
//
//   std::vector<engine::Output> two = engine::best_of(outputs, 2);
//   std::vector<engine::Beam> beams = engine::beam_search(engine, prompt, {.width = 4});
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "strata/engine/engine.h"

namespace strata::engine {

/// The `count` outputs with the greatest mean log-probability of a token, the best first; of equal
/// ones the earlier. As best_of of OpenAI's completions.
std::vector<Output> best_of(std::vector<Output> outputs, std::size_t count);

struct BeamOptions {
  /// Beams that are kept; each is continued by its 2 width likeliest tokens.
  std::int64_t width = 4;
  std::int64_t max_tokens = 16;
  /// Beams that draw one of these are finished.
  std::vector<std::int32_t> stop_tokens = {};
  bool ignore_stop_tokens = false;
  /// Beams are ordered by the sum of log-probabilities / length^penalty.
  double length_penalty = 1;
  /// Ends as soon as `width` beams are finished; else it goes on while beams can be continued.
  bool early_stopping = false;
  /// Log-probabilities are at this temperature; below 1e-5: at 1.
  double temperature = 0;
  std::string salt = {};
  std::int64_t priority = 0;
};
struct Beam {
  std::vector<std::int32_t> tokens;  // a stop token at the end among them
  std::vector<float> logprobs;
  double sum = 0, score = 0;
  bool stopped = false;
};

/// A beam search that goes on while its engine steps. Each step of it is `width` requests of one
/// token, whose beginnings are found in the cache, so it runs beside other requests.
///
/// Source: vLLM's beam search; there finished beams leave the width to others, and the length does
/// not count a stop token at the end. Of equal scores the earlier beam and the smaller token.
class BeamSearch {
 public:
  /// Called once, with at most `width` beams, the best first; with none and the reason where a
  /// request failed. The engine must outlive the search. Throws Error for numbers out of range:
  /// 2 width log-probabilities must be allowed by max_logprobs.
  using Done = std::function<void(std::vector<Beam>, End, const std::string& error)>;
  BeamSearch(Engine& engine, std::vector<std::int32_t> prompt, BeamOptions options, Done done);
  /// Ends it with what it has; `done` is not called.
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The same, stepping until it is done. Throws Error where a request failed.
std::vector<Beam> beam_search(Engine& engine, std::vector<std::int32_t> prompt,
                              const BeamOptions& options);

}  // namespace strata::engine
