// Chapter 15: tune a published model on your own chats. The page beside this file
// (15_tune_a_published_model.md) explains it.
#include <strata/core.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "strata/engine/text.h"
#include "strata/train/run.h"

using namespace strata;

int main() {
  // A tiny model that talks, of random weights, and a few dozen chats.
  const std::string model = "strata/train/testdata/tuning";
  const std::filesystem::path runs =
      std::filesystem::temp_directory_path() / ("tutorial-15-" + std::to_string(::getpid()));
  const train::Config config = train::read_config(
      {}, {"init=" + model, "train_files=" + model + "/chats.jsonl", "train_data_columns=messages",
           "max_target_length=96", "per_device_batch_size=4", "steps=60", "learning_rate=1e-2",
           "eval_fraction=0.1", "base_output_directory=" + runs.string(), "run_name=colours"});
  Progress progress(STDERR_FILENO);
  auto tuned = train::run(config, progress);
  if (!tuned) {
    std::cerr << tuned.status().message() << "\n";
    return 1;
  }
  std::cout << "held-out loss " << (*tuned->held_out_before > 5 ? "above 5" : "low") << " -> "
            << (*tuned->held_out_after < 1 ? "below 1" : "high") << "\n";

  // The run's folder is a model now.
  auto lm = engine::load_language_model(runs / "colours", {.length = 96});
  if (!lm) {
    std::cerr << lm.status().message() << "\n";
    return 1;
  }
  auto prompt = lm->chat(R"([{"role": "user", "content": "What colour is the sky?"}])");
  if (!prompt) {
    std::cerr << prompt.status().message() << "\n";
    return 1;
  }
  engine::TextEngine engine(*lm, engine::options_for(*lm, 96));
  const engine::Id id =
      engine.submit({.tokens = *prompt, .sampling = {.temperature = 0}, .max_tokens = 24});
  std::cout << engine.run(id).text << "\n";
  std::filesystem::remove_all(runs);
}
