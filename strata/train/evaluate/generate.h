// Text from a checkpoint.
//
//   auto generator = train::Generator::load("build/demo/demo");
//   if (!generator) return fail(generator.status());
//   generator->generate("In the beginning", {.max_tokens = 200, .top_p = 0.95, .seed = 1},
//   [](std::string_view piece) { std::cout << piece; });
//
// The decoding engine (engine/engine.h) draws all texts side by side. The model sees at most
// max_target_length tokens: when they are full, the older half is let go and the newer half is read
// anew (`window_begin`). What is drawn depends on the tokens before it, the seed and the number of
// the token alone: not on how much of the text was prompt, on threads, or on samples beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/engine/engine.h"
#include "strata/model/model.h"
#include "strata/tokenizer/tokenizer.h"
#include "strata/train/config/config.h"

namespace strata::train {

struct GenerateOptions {
  /// Tokens to draw, for each sample.
  std::int64_t max_tokens = 256;
  /// As in engine::Sampling.
  double temperature = 0.8;
  std::int64_t top_k = 0;
  double top_p = 1.0;
  double min_p = 0.0;
  /// Sample i draws by the numbers of seed + i, so that each can be had again by itself.
  std::uint64_t seed = 0;
  /// A sample ends before the first of these strings.
  std::vector<std::string> stop = {};
  /// Go on behind the end of a document instead of ending there.
  bool ignore_eos = false;
  std::int64_t num_samples = 1;
};

struct Sample {
  enum class End { max_tokens, stop, document };
  std::string text;
  std::int64_t tokens = 0;  // drawn, with those of a stop string or separator
  End end = End::max_tokens;
};
/// "max_tokens", "stop", "document".
std::string_view name(Sample::End end);

struct Generated {
  std::vector<Sample> samples;
  std::int64_t prompt_tokens = 0;
  /// Seconds: compiling, reading the prompt, drawing.
  double compile_seconds = 0, prompt_seconds = 0, decode_seconds = 0;
  /// Tokens drawn in a second, of all samples together.
  double tokens_per_second() const;
};

/// The first of `tokens` tokens that a model of `length` tokens sees: 0 while they fit, then in
/// steps of half the length.
std::int64_t window_begin(std::int64_t tokens, std::int64_t length);

class Generator {
 public:
  /// `path`: a checkpoint's folder, or the folder of a run or of its checkpoints, of which the
  /// newest whole one is taken. The tokenizer is the run's own copy, else the file that its
  /// configuration names.
  static Result<Generator> load(const std::string& path);
  /// From parts: weights of the shapes that the configuration describes. Throws Error for a
  /// tokenizer with more tokens than the model.
  Generator(Config config, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
            const tree::Tree& params, std::int64_t step = 0);

  /// Continues each of the prompts (empty: a new document) by options.num_samples texts, all side
  /// by side. Each piece of the text of sample i of prompt p is handed on as it is drawn: whole
  /// UTF-8 characters, bytes that are none as U+FFFD. Times are those of all prompts together.
  /// Throws Error where logits are no numbers. Calls from several threads wait for each other.
  std::vector<Generated> generate(std::span<const std::string> prompts,
                                  const GenerateOptions& options,
                                  const std::function<void(std::size_t prompt, std::int64_t sample,
                                                           std::string_view text)>& piece) const;
  /// The same for one prompt.
  Generated generate(
      std::string_view prompt, const GenerateOptions& options,
      const std::function<void(std::int64_t sample, std::string_view text)>& piece) const;
  /// The same for one sample of one prompt.
  Generated generate(std::string_view prompt, const GenerateOptions& options,
                     const std::function<void(std::string_view)>& piece) const;

  const Config& config() const { return config_; }
  const tree::Tree& params() const { return params_; }
  const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }
  std::int64_t step() const { return step_; }
  /// Newer checkpoints that `load` passed over, and why.
  const std::vector<Status>& damaged() const { return damaged_; }

 private:
  /// The engine, made by the first call, and again by one that runs more texts at once.
  struct Shared {
    std::mutex mutex;
    std::unique_ptr<engine::Engine> engine;
  };
  Config config_;
  model::ModelPtr model_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  tree::Tree params_;  // in the dtype of the products
  std::int64_t step_;
  std::vector<Status> damaged_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace strata::train
