// From the metadata of a GGUF file to the config.json of the same model.
//
//   GgufMetadata m{.values = {{"general.architecture", "\"llama\""}, {"llama.block_count", "30"}}};
//   std::string config = family_of(m).from_gguf(m);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model::published {

/// The keys and values of a GGUF file, and what its tensors say that no key does.
struct GgufMetadata {
  /// Each value as JSON: numbers, texts in quotes, lists. What the tokenizer has may be left out,
  /// but for the number of its tokens, which then stands below.
  std::map<std::string, std::string, std::less<>> values;
  /// The shape of token_embd.weight: rows are the vocabulary.
  std::vector<std::int64_t> embedding_shape;
  /// Whether there is a tensor output.weight; without it the output matrix is the embedding.
  bool has_output = false;
  /// Which biases there are, by layer 0: attn_q.bias, attn_output.bias, ffn_up.bias.
  bool query_bias = false, out_bias = false, mlp_bias = false;
  /// The tensors rope_freqs.weight, rope_factors_long.weight, rope_factors_short.weight.
  std::vector<double> rope_divisors, long_factors, short_factors;

  /// Throws Error where a key is missing or of another type.
  std::string text(std::string_view key) const;
};

/// The keys that most families' config.json has: sizes, epsilon, rotary positions and their
/// scaling, ties, windows; with `more` joined, an object whose keys win. Throws Error for missing
/// keys, lists per layer that are not alike, and scalings that there are not.
std::string usual_config(const GgufMetadata& metadata, std::string_view model_type,
                         std::string_view more = "{}");
/// A key of the architecture, "attention.sliding_window" for "gemma2.attention.sliding_window", as
/// JSON; none where it is absent.
std::optional<std::string> architecture_value(const GgufMetadata& metadata, std::string_view key);

}  // namespace strata::model::published
