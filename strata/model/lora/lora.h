// Adapters of low rank beside the weights of a published model, dense or packed: made, found,
// merged.
//
//   auto base = model::load("SmolLM2.gguf", {.packed = true}).value();
//   model::ModelPtr m = lora::with_adapters(base.model, lora::LoraOptions{.rank = 16, .alpha =
//   32}); tree::Tree params = lora::add_adapters(m, base.params, random::key(0)); train::Optimizer
//   optimizer{.rule = optim::adamw(1e-4), .frozen = !lora::adapters()};
//   ...
//   lora::Adapted whole = lora::merged(m, params);
//
// y = x W + scale (x A) B, where B is zero at the start: the first loss is the base's to the bit.
// The adapters are leaves of the tree beside their weights, "layers/attention/query/lora/a" (L, I,
// r) and ".../lora/b" (L, r, O), of the kind LoRAParam, so that whatever works on weights works on
// them. A packed base stays packed: gradients go through it by op block_dot's transpose.
// Sources: Hu et al., LoRA (2021); Dettmers et al., QLoRA (2023); names as in PEFT. Deviations: an
// adapter stands in all layers or in none; where the published model has several of our weights in
// one (Phi-3's qkv_proj), each has an adapter of its own; the factors are computed with in the
// model's dtype; there is no dropout.
#pragma once

#include "strata/api/tree/tree.h"
#include "strata/model/lora/targets.h"
#include "strata/model/model.h"

namespace strata::model::lora {

/// A model and its weights.
struct Adapted {
  ModelPtr model;
  tree::Tree params;
};

/// The model with adapters. Throws Error where it is no decoder that others published, where it has
/// adapters, and for what `select` refuses.
ModelPtr with_adapters(const ModelPtr& base, const LoraOptions& options);
/// The same by path, with a rank and a factor each.
ModelPtr with_adapters(const ModelPtr& base,
                       const std::map<std::string, decoder::AdapterOptions, std::less<>>& adapters);
/// The weights of the base and first adapters by a key; the base's arrays are shared, not copied.
tree::Tree add_adapters(const ModelPtr& adapted, const tree::Tree& base, const Array& key);

/// The leaves of adapters: what is trained.
tree::Filter adapters();
/// Whether a model has adapters.
bool has_adapters(const Model& model);
/// The model without its adapters, and the base's weights.
Adapted base_of(const ModelPtr& adapted, const tree::Tree& params);

struct MergeOptions {
  internal::Named named = internal::Named();
  /// Of the merged weights that were packed: f32 or bf16.
  DType unpacked = DType::f32;
  /// Packs them again in their own formats. Throws Error where there is no encoder for one.
  bool packed = false;
};
/// W + scale A B in the place of each weight that has an adapter, computed in f32 and rounded to
/// W's dtype: a model without adapters. Packed weights come dequantised unless `packed` says so.
Adapted merged(const ModelPtr& adapted, const tree::Tree& params, const MergeOptions& options = {});

}  // namespace strata::model::lora
