// Adapters of low rank in PEFT's layout: a folder with adapter_config.json and
// adapter_model.safetensors.
//
//   auto base = model::load("SmolLM2", {}).value();
//   auto with = lora::load_peft("my-adapter", base.model, base.params);
//   if (!with) return fail(with.status());
//   lora::save_peft("copy", *with, {.base_model = "SmolLM2"});
//
// Source: huggingface/peft, src/peft/utils/save_and_load.py and src/peft/tuners/lora. Tensors are
// "base_model.model.<name of the module>.lora_A.weight" [r, in] and ".lora_B.weight" [out, r].
// Where PEFT has one adapter for weights that are several here, each gets its part; written again,
// they are one where their A are equal, else one of the ranks' sum, with blocks of zeros in B.
// What changes the meaning and is not known here is refused by its name: DoRA, aLoRA, biases,
// modules_to_save, adapters of embeddings, layers without an adapter that others have, initial
// values that changed the base.
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/model/lora/lora.h"

namespace strata::model::lora {

/// The model and weights with the adapter in a folder. Codes not_found, corrupt; unsupported for
/// what is not known; invalid where the adapter is of another model. `params` may be of arrays
/// without values: those come back, and a matrix that PEFT saved beside its adapter is taken for
/// the base's then.
Result<Adapted> load_peft(const std::string& folder, const ModelPtr& base,
                          const tree::Tree& params);

struct PeftOptions {
  internal::Named named = internal::Named();
  /// base_model_name_or_path of the configuration; empty: null.
  std::string base_model = {};
};
/// Writes the adapters of a model, f32 or bf16 as they are. The folder is made where it is not
/// there; equal adapters give equal bytes.
Status save_peft(const std::string& folder, const Adapted& adapted,
                 const PeftOptions& options = {});

/// The rank and factor of the adapters that a configuration means. Throws Error for what is
/// refused, for text that is no JSON object, and for ranks and factors that there are not.
class PeftConfig {
 public:
  static PeftConfig parse(std::string_view json);
  /// Of a module by its published name.
  decoder::AdapterOptions of(std::string_view published) const;

 private:
  std::int64_t rank_ = 8;
  double alpha_ = 8;
  bool rslora_ = false;
  std::vector<std::pair<std::string, std::int64_t>> ranks_;
  std::vector<std::pair<std::string, double>> alphas_;
};

}  // namespace strata::model::lora
