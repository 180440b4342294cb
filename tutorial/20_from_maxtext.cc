// Chapter 20: a MaxText user's command lines.
#include <iostream>

#include "strata/train/maxtext/translate.h"

int main() {
  namespace maxtext = strata::train::maxtext;
  const maxtext::Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; },
                                         1};
  // What `strata train src/maxtext/configs/base.yml ...` reads.
  const maxtext::Resolved r = maxtext::resolve(
      {"src/maxtext/configs/base.yml", "run_name=first", "base_output_directory=runs",
       "model_name=qwen3-0.6b", "dataset_type=synthetic", "per_device_batch_size=2", "steps=10",
       "sa_block_q=128"},
      nothing);
  std::cout << "layers: " << maxtext::str(r.values.at("num_decoder_layers")) << "\n"
            << "checkpoints: " << maxtext::str(r.values.at("checkpoint_dir")) << "\n";

  // What it becomes here.
  const maxtext::Translation t = maxtext::translate(r);
  for (const std::string& note : t.notes) std::cout << note << "\n";
  const strata::train::Config config = strata::train::read_config({}, t.keys);
  std::cout << "steps: " << config.steps << ", learning_rate: " << config.learning_rate << "\n";

  // What is not built is refused, by key and value.
  try {
    (void)maxtext::translate(maxtext::resolve({"run_name=first", "quantization=int8"}, nothing));
  } catch (const strata::train::ConfigError& e) {
    std::cout << e.what() << "\n";
  }
  // What upstream refuses is refused with its words.
  try {
    (void)maxtext::resolve({"run_name=first", "steps=many"}, nothing);
  } catch (const maxtext::Refused& e) {
    std::cout << e.error_class() << "\n";
  }

  // Where a value comes from, and what the key does.
  std::cout << maxtext::explain("base_emb_dim", r);
}
