// What a run trains and on what it stands: what `init` and the model's keys amount to.
//
//   auto base = train::open_base(config);       // init=SmolLM2.gguf, or a family's keys
//   if (!base) return fail(base.status());
//   train::State state = train::init_state(config, *base);
//
// Everything in training that depends on where the model comes from asks here: its first weights,
// which of them stay as they are, the tokenizer, the chat template. What is frozen is written into
// no checkpoint: a checkpoint says by its fingerprint on which base it stands, and a run goes on on
// that base alone.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/engine/generation_config.h"
#include "strata/model/model.h"
#include "strata/tokenizer/chat_template/chat_template.h"
#include "strata/tokenizer/tokenizer.h"
#include "strata/train/config/config.h"

namespace strata::train {

struct Base {
  model::ModelPtr model;
  /// The weights that training begins with, in weight_dtype (packed ones as they are); none: of
  /// init_weights_seed, by the model.
  std::optional<tree::Tree> weights;
  /// Leaves that are not trained whatever optimizer.groups say; none: all are.
  std::optional<tree::Filter> frozen;
  /// The text's, and the conversations' where the model was made for such.
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::optional<tokenizer::ChatTemplate> chat_template;
  /// The published config.json; empty without `init`.
  std::string config;
  /// The fingerprint of the frozen leaves of `weights`; of all where none are; empty without
  /// `init`.
  std::string fingerprint;
  /// How the model's makers want tokens drawn, and the longest sequence that it was made for.
  engine::GenerationConfig generation;
  std::int64_t max_length = 0;
  /// What stands beside the weights of a Hugging Face directory of the outcome: names, contents.
  std::map<std::string, std::string> files;
  /// What a user should know.
  std::vector<std::string> notes;

  bool published() const { return !config.empty(); }
};

/// Loads what `init` names, else makes the family's model and loads its tokenizer. Throws
/// ConfigError for a key that contradicts the published model, naming both; fails as
/// engine::load_language_model and tokenizer::load_tokenizer do.
Result<Base> open_base(const Config& config);
/// The tokenizer alone, for who needs no weights.
Result<std::shared_ptr<const tokenizer::Tokenizer>> open_tokenizer(const Config& config);

/// The types of the first weights, without their values.
tree::Tree weight_types(const Config& config, const Base& base);

/// Throws ConfigError for a key of the model that a published configuration does not state so;
/// `name` stands for it in messages.
void check_published_keys(const Config& config, const std::string& published,
                          const std::string& name);

}  // namespace strata::train
