// Text from the engine: tokens become whole characters, and strings end a text.
//
//   engine::TextEngine e(lm, {.max_batch = 4});
//   const engine::Id id = e.submit({.tokens = lm.prompt("Once"), .stop = {"\n"},
//                                   .on_text = [](std::string_view s) { std::cout << s; }});
//   while (e.step()) {}
//   const engine::TextOutput out = e.take(id);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/engine/engine.h"
#include "strata/engine/language_model.h"

namespace strata::engine {

struct TextRequest {
  std::vector<std::int32_t> tokens;
  Sampling sampling = {};
  std::int64_t max_tokens = 256;
  /// The text ends before the first of these.
  std::vector<std::string> stop = {};
  /// Go on behind the tokens with which the model ends a text.
  bool ignore_eos = false;
  /// Called with each piece of text, whole characters, as soon as no stop string can begin in it.
  std::function<void(std::string_view)> on_text = {};
  /// Tokens that end it, besides the model's own.
  std::vector<std::int32_t> stop_tokens = {};
  /// As Request's.
  std::optional<std::int64_t> logprobs = {}, prompt_logprobs = {};
  std::vector<std::int32_t> logprob_tokens = {};
  std::int64_t priority = 0;
  std::optional<Clock::time_point> deadline = {};
  std::string salt = {};
  bool speculate = true;
  std::optional<RepetitionDetection> repetition_detection = {};
  std::function<bool(std::span<const std::int32_t>, std::span<float>)> shape = {};
  bool shape_takes_guesses = false;
  /// Called with each token, before the text that it completes.
  std::function<void(const Token&)> on_token = {};
};

struct TextOutput {
  std::string text;
  std::vector<std::int32_t> tokens;  // those of a stop string or an end among them
  std::vector<float> logprobs;
  /// A stop string ends a text as a stop token does: End::stop.
  End end = End::max_tokens;
  std::string error;
  std::int64_t prompt_tokens = 0, shared_tokens = 0;
  /// From `submit` to the first token, and from there to the last.
  double prompt_seconds = 0, seconds = 0;
  /// As Output's.
  std::vector<TokenLogprobs> others = {};
  std::vector<PromptLogprob> prompt_logprobs = {};
  std::int64_t guessed = 0, accepted = 0;
};

/// Room for `length` tokens in each of `batch` requests, no more than the model was made for.
Options options_for(const LanguageModel& lm, std::int64_t length, std::int64_t batch = 1);

/// The language model must outlive it.
class TextEngine {
 public:
  TextEngine(const LanguageModel& lm, const Options& options);
  ~TextEngine();
  TextEngine(const TextEngine&) = delete;
  TextEngine& operator=(const TextEngine&) = delete;

  /// As Engine's.
  Id submit(TextRequest request);
  /// As Engine's: samples of one request.
  std::vector<Id> submit(const TextRequest& request, std::int64_t samples);
  bool cancel(Id id) { return engine_.cancel(id); }
  bool step() { return engine_.step(); }
  /// Steps until this one has ended, and takes it.
  TextOutput run(Id id);
  TextOutput take(Id id);
  Engine& engine() { return engine_; }

 private:
  struct Stream;
  Request request_of(const std::shared_ptr<Stream>& stream);
  const LanguageModel& lm_;
  Engine engine_;
  std::map<Id, std::shared_ptr<Stream>> streams_;
};

}  // namespace strata::engine
