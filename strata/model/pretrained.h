// Models that others published: a Hugging Face directory, a GGUF file, or tensors of any source.
//
//   auto loaded = model::load("SmolLM2-135M", {.dtype = DType::bf16});
//   if (!loaded) return fail(loaded.status());
//   Array logits = loaded->model->forward(loaded->params, tokens);
//
// config.json names the family and its options; what Strata does not know there (a model_type, a
// type of rotary scaling, a quantization_config) is refused and never guessed, and so are tensors
// that are missing, left over, or of another shape, by name and shape.
#pragma once

#include <string>

#include "strata/model/encoder.h"
#include "strata/model/model.h"
#include "strata/model/published/gguf_config.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model {

struct LoadOptions {
  internal::Named named = internal::Named();
  /// Of activations and logits; and of the weights that are kept.
  DType dtype = DType::f32;
  DType weights = DType::f32;
  /// Keep weights in packed blocks where the source has them so, instead of `weights`.
  bool packed = false;
  /// The longest sequence that will be read: decides rotary frequencies that depend on it (dynamic,
  /// longrope); 0: each call does.
  std::int64_t max_length = 0;
  /// What the backward pass keeps: decoder::Options::remat_policy.
  std::string remat_policy = "full_save";
  /// A folder with an adapter in PEFT's layout (lora/peft.h) that stands beside the weights; empty:
  /// none. Codes of lora::load_peft.
  std::string adapter = {};
  /// Layers that predict further tokens (decoder::Options::mtp_layers) to read beside the others,
  /// which the config.json that comes back states; 0: as config.json's `mtp_num_layers` says, which
  /// is none where others published it.
  std::int64_t mtp_layers = 0;
};

/// A model with its weights, and the config.json that it was made of.
struct Pretrained {
  ModelPtr model;
  tree::Tree params;
  std::string config;
};
/// Of a Hugging Face directory, a cache's models--org--name, whose refs/main is taken, or a GGUF
/// file, whose packed weights are dequantised. Codes: not_found, corrupt, denied for files;
/// unsupported for what Strata does not know; invalid for a configuration that contradicts itself,
/// or tensors that are not its own.
Result<Pretrained> load(const std::string& path, const LoadOptions& options = {});
/// A config.json that states so many layers that predict further tokens; what is no JSON object
/// comes back.
std::string with_further_layers(const std::string& config, std::int64_t layers);
/// The same of a configuration as JSON text and tensors by name.
Result<Pretrained> load(const std::string& config, const published::TensorSource& tensors,
                        const LoadOptions& options = {});
/// The config.json that a GGUF file's metadata amount to. Code::unsupported, Code::corrupt.
Result<std::string> config_of(const published::GgufMetadata& metadata);

/// An encoder with its weights, and how sentence-transformers pool what it gives.
struct PretrainedEncoder {
  EncoderPtr encoder;
  tree::Tree params;
  Pooling pooling;
  std::string config;
};
/// Reads modules.json, N_Pooling/config.json and sentence_bert_config.json where they are there.
Result<PretrainedEncoder> load_encoder(const std::string& path, const LoadOptions& options = {});
Result<PretrainedEncoder> load_encoder(const std::string& config,
                                       const published::TensorSource& tensors,
                                       const LoadOptions& options = {});

/// Writes a Hugging Face directory: config.json as given, but for a quantization_config, and the
/// weights of a tree in f32 or bf16 as they are, under their published names, in model.safetensors.
/// The folder is made where it is not there.
Status save_pretrained(const std::string& folder, const std::string& config,
                       const tree::Tree& params);

}  // namespace strata::model
