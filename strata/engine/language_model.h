// A model that speaks: weights, tokenizer, chat template, and how its makers want tokens drawn.
//
//   auto lm = engine::load_language_model("SmolLM2-135M-Instruct.gguf");
//   if (!lm) return fail(lm.status());
//   engine::TextEngine e(*lm);
//   auto id = e.submit({.tokens = lm->prompt("The capital of France is"), .max_tokens = 12});
//   while (e.step()) {}
//   std::cout << e.take(id).text;
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/engine/generation_config.h"
#include "strata/model/model.h"
#include "strata/tokenizer/chat_template/chat_template.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::engine {

/// Where a conversation ends: where the assistant begins to speak; behind the last message; within
/// the last message, which is to be continued.
enum class ChatEnd { answer, message, open_message };

struct LanguageModel {
  model::ModelPtr model;
  tree::Tree params;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::optional<tokenizer::ChatTemplate> chat_template;
  GenerationConfig generation;
  /// The config.json, or what a GGUF file's metadata amount to as one.
  std::string config;
  /// The longest sequence that the model was made for.
  std::int64_t max_length = 0;
  /// The folder or file, for messages.
  std::string name;
  /// What a user should know: keys that are not followed, a chat template that is damaged.
  std::vector<std::string> notes;

  /// The token that stands before a text: the generation configuration's, the tokenizer's, else the
  /// one between documents; none where there is none.
  std::optional<std::int32_t> first_token() const;
  /// The length, or the longest sequence that the model was made for where that is shorter.
  std::int64_t at_most(std::int64_t length) const;
  /// Tokens of a text to go on from, with the special tokens that the tokenizer puts before it. An
  /// empty text begins a document. Throws Error where neither text nor special token is there.
  std::vector<std::int32_t> prompt(std::string_view text) const;
  /// Tokens of a conversation, up to where the assistant begins to speak. Special tokens in what
  /// messages say are text. `messages` is a JSON list of {"role", "content"}; `more` further names
  /// for the template as a JSON object. Code::invalid where there is no chat template (it says so),
  /// and where the template refuses.
  Result<std::vector<std::int32_t>> chat(std::string_view messages, std::string_view more = "{}",
                                         ChatEnd end = ChatEnd::answer) const;
  /// The same as text.
  Result<tokenizer::RenderedChat> render_chat(std::string_view messages, std::string_view more,
                                              ChatEnd end) const;
};

/// The tokenizer of a GGUF file, a Hugging Face directory, a cache's models--org--name or a
/// tokenizer.json.
Result<std::shared_ptr<const tokenizer::Tokenizer>> load_tokenizer(const std::string& path);

struct LanguageModelOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of activations; and of weights.
  DType dtype = DType::f32, weights = DType::f32;
  /// Keep a GGUF file's weights in their blocks, so that memory holds what the file does.
  bool packed = true;
  /// Round activations to eight bits for products with packed weights, as llama.cpp does: faster
  /// (model/int8_activations.h).
  bool int8_activations = false;
  /// The longest sequence that will be read: decides rotary frequencies that depend on it.
  std::int64_t length = 4096;
  /// What the backward pass keeps: decoder::Options::remat_policy.
  std::string remat_policy = "full_save";
  /// A folder with an adapter in PEFT's layout that stands beside the weights; empty: none.
  std::string adapter = {};
  /// Layers that predict further tokens, to be trained: model::LoadOptions::mtp_layers.
  std::int64_t mtp_layers = 0;
};
/// Of a GGUF file, a Hugging Face directory or a cache's models--org--name.
Result<LanguageModel> load_language_model(const std::string& path,
                                          const LanguageModelOptions& options = {});

}  // namespace strata::engine
