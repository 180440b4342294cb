// Which weights of a published model get an adapter of low rank, and what they are called.
//
//   lora::LoraOptions o{.rank = 16, .alpha = 32, .target_modules = {"q_proj", "v_proj"}};
//   auto adapters = lora::select(base_options, o);   // {"layers/attention/query": ..., ...}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "strata/api/options.h"
#include "strata/model/decoder/options.h"
#include "strata/model/published/names.h"

namespace strata::model::lora {

/// What adapters are to be made; defaults are PEFT's, but for the targets.
struct LoraOptions {
  internal::Named named = internal::Named();
  std::int64_t rank = 8;
  double alpha = 8;
  /// Whether the scale is alpha / sqrt rank instead of alpha / rank.
  bool use_rslora = false;
  /// Each one of: "all-linear", every matrix but the one that gives logits; the end of published
  /// names at a dot, "q_proj" or "mlp.down_proj"; a regular expression that matches a whole
  /// published name, "model.layers.0.self_attn.q_proj", or a whole path, "layers/attention/query"
  /// (Tunix' module_path). A weight that any of them means gets an adapter in every layer.
  std::vector<std::string> target_modules = {"all-linear"};
  decoder::AdapterInit init = decoder::AdapterInit::kaiming_uniform;
};

/// A matrix that an adapter can stand beside.
struct Module {
  std::string path;       // ours: "layers/attention/query"
  std::string published;  // with {} for the layer: "model.layers.{}.self_attn.q_proj"
  std::int64_t in = 0, out = 0;
  /// Where several matrices are published as one: its outputs begin here, of so many in all.
  std::int64_t begin = 0, whole = 0;
  bool is_fused() const { return whole != out; }
};
/// Those of a model, in the order of its weights, with names as transformers has them.
std::vector<Module> modules_of(const decoder::Options& options);
/// The names of the family that a model is of.
published::Names names_of(const decoder::Options& options);

/// Whether a module's published name ends in `target` at a dot, as PEFT compares them.
bool ends_in(std::string_view published, std::string_view target);

/// The adapters by path. Throws Error for ranks and factors that there are not, for a target that
/// means nothing (with the names that there are), and for one that means a weight in some layers
/// only.
std::map<std::string, decoder::AdapterOptions, std::less<>> select(const decoder::Options& base,
                                                                   const LoraOptions& options);

/// "kaiming_uniform", "he_uniform", "gaussian". Throws Error for another name.
decoder::AdapterInit init_named(std::string_view name);

}  // namespace strata::model::lora
