#include "strata/train/generate.h"

#include <algorithm>
#include <cmath>

#include "strata/api/index.h"
#include "strata/api/jit.h"
#include "strata/api/lax.h"
#include "strata/base/file.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

Result<checkpoint::Checkpoint> find(const std::string& path) {
  if (file_exists(path + "/manifest.json")) return checkpoint::load(path);
  for (const std::string& root : {path + "/checkpoints", path}) {
    auto latest = checkpoint::load_latest(root);
    if (!latest) return latest.status();
    if (latest->checkpoint) return std::move(*latest->checkpoint);
    if (!latest->damaged.empty()) return latest->damaged.front();
  }
  return Status(Code::not_found, "{}: no checkpoint there", path);
}

}  // namespace

double uniform_number(std::uint64_t seed, std::uint64_t i) {
  // Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

std::int32_t sample(std::span<const float> logits, double temperature, double u) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (temperature <= 0) return static_cast<std::int32_t>(largest - logits.begin());
  std::vector<double> weights;
  double total = 0;
  for (float l : logits) total += weights.emplace_back(std::exp((static_cast<double>(l) - static_cast<double>(*largest)) / temperature));
  double left = u * total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<std::int32_t>(i);
  }
  return static_cast<std::int32_t>(largest - logits.begin());  // u so near 1 that rounding ate the rest
}

Result<Generator> Generator::load(const std::string& path) {
  auto checkpoint = find(path);
  if (!checkpoint) return checkpoint.status();
  Config config = config_of(*checkpoint);
  auto params = params_from_checkpoint(*checkpoint, config);
  if (!params) return params.status();
  auto tokenizer = data::load_tokenizer(config.tokenizer_type, config.tokenizer_path);
  if (!tokenizer) return tokenizer.status();
  return Generator(std::move(config), std::move(*tokenizer), std::move(*params), checkpoint->step);
}

void Generator::generate(std::string_view prompt, const GenerateOptions& options,
                         const std::function<void(std::string_view)>& piece) const {
  data::StreamDecoder text(*tokenizer_);
  const std::int64_t length = config_.max_target_length;
  std::vector<std::int32_t> tokens = tokenizer_->encode(prompt);
  if (tokens.empty()) tokens.push_back(tokenizer_->separator());
  const llama::Config model = model_config(config_);
  // Queries see earlier keys only, so whatever fills the window behind the last token changes nothing before it.
  const auto next_logits = jit(
      [model](const llama::Params& p, const Array& window, const Array& last) {
        const Array logits = llama::forward(p, expand_dims(window, 0), model);
        return astype(take(squeeze(logits, {0}), last, 0, "clip"), DType::f32);
      },
      {.name = "next_logits"});
  for (std::int64_t i = 0; i < options.max_tokens; ++i) {
    const std::size_t seen = std::min(tokens.size(), static_cast<std::size_t>(length));
    std::vector<std::int32_t> window(tokens.end() - static_cast<std::ptrdiff_t>(seen), tokens.end());
    window.resize(static_cast<std::size_t>(length), 0);
    const Literal logits = next_logits(params_, array(window), Array(Literal::scalar(static_cast<std::int32_t>(seen - 1)))).literal();
    const auto known = logits.span<float>().first(static_cast<std::size_t>(tokenizer_->vocab_size()));
    tokens.push_back(sample(known, options.temperature, uniform_number(options.seed, static_cast<std::uint64_t>(i))));
    piece(text.add(tokens.back()));
  }
  piece(text.finish());
}

}  // namespace strata::train
