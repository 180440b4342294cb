// Text from a checkpoint.
//
//   auto generator = train::Generator::load("build/demo/demo_kjv/checkpoints/900");
//   generator->generate("In the beginning", {.max_tokens = 200}, [](std::string_view piece) { std::cout << piece; });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/data/tokenizer.h"
#include "strata/model/llama/model.h"
#include "strata/train/config.h"

namespace strata::train {

struct GenerateOptions {
  std::int64_t max_tokens = 256;
  /// 0 takes the likeliest token each time; 1 draws from the model's own distribution.
  double temperature = 0.8;
  std::uint64_t seed = 0;
};

/// The token that `u`, uniform in [0, 1), draws from softmax(logits / temperature); the first of the largest for temperature 0.
std::int32_t sample(std::span<const float> logits, double temperature, double u);
/// Number `i` of the stream of `seed`, uniform in [0, 1): SplitMix64, 53 bits.
double uniform_number(std::uint64_t seed, std::uint64_t i);

class Generator {
 public:
  /// `path`: a checkpoint's folder, or the folder of a run or of its checkpoints, of which the newest whole one is taken.
  static Result<Generator> load(const std::string& path);

  /// Continues `prompt` (empty: a new document), handing on each piece of text, whole characters, as it is drawn. Sees the last
  /// max_target_length tokens at most. The same seed gives the same text.
  void generate(std::string_view prompt, const GenerateOptions& options, const std::function<void(std::string_view)>& piece) const;

  const Config& config() const { return config_; }
  std::int64_t step() const { return step_; }

 private:
  Generator(Config config, std::shared_ptr<const data::Tokenizer> tokenizer, llama::Params params, std::int64_t step)
      : config_(std::move(config)), tokenizer_(std::move(tokenizer)), params_(std::move(params)), step_(step) {}
  Config config_;
  std::shared_ptr<const data::Tokenizer> tokenizer_;
  llama::Params params_;
  std::int64_t step_;
};

}  // namespace strata::train
