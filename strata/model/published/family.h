// A family of published models: what turns its config.json into options, and how its tensors are
// called.
//
// Each family is one function in strata/model/<family>/published.h; families.cc lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/model/decoder/options.h"
#include "strata/model/published/config.h"
#include "strata/model/published/gguf_config.h"
#include "strata/model/published/names.h"

namespace strata::model::published {

struct Family {
  /// As config.json's model_type has it, and as GGUF's general.architecture has it.
  std::string_view model_type, architecture;
  /// "a decoder with ...".
  std::string_view sentence;
  /// Throws Error for what the family does not know.
  decoder::Options (*options)(const Config& config);
  Names (*names)(const decoder::Options& options);
  /// The config.json that a GGUF file's metadata amount to, as text. Throws Error where keys are
  /// missing.
  std::string (*from_gguf)(const GgufMetadata& metadata);
};

/// All families by model_type.
std::span<const Family> families();
/// Throws Error, with the names that there are, for a model_type that none has.
const Family& family(std::string_view model_type);
/// The family whose GGUF files these metadata are of. Throws Error for an architecture that none
/// has.
const Family& family_of(const GgufMetadata& metadata);

/// What nearly all families' options share: sizes, epsilon, ties, context. `head_dim`: where the
/// file says nothing; 0: hidden_size / num_attention_heads.
decoder::Options usual_options(const Config& config, std::string_view model_type,
                               std::int64_t head_dim = 0);
/// The number of layers, which lists are made for. Throws Error where it is not from 1 to 16384.
std::int64_t layers_of(const Config& config, std::string_view key);
/// The experts of Qwen's config.json: their number and width, and the leading layers that
/// `mlp_only_layers` leaves without. Throws Error for others than leading ones, and for a
/// decoder_sparse_step above 1.
decoder::ExpertOptions experts_of(const Config& config, std::int64_t layers);
/// hidden_act by upstream's names. Throws Error for others.
decoder::Activation activation_of(const std::string& name);
/// A window for each layer whose entry in layer_types is "sliding_attention", or, where there is no
/// such list, for which `slides` is true; none where none slides.
std::vector<std::int64_t> windows_of(const Config& config, std::int64_t layers, std::int64_t window,
                                     bool (*slides)(const Config&, std::int64_t layer));

}  // namespace strata::model::published
