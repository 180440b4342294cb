// What tests of MaxText's own training share (tools/goldens/maxtext_curves.py): its command lines,
// first weights and batches.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "strata/model/pretrained.h"
#include "strata/train/config/router_options.h"
#include "strata/train/maxtext/models.h"
#include "strata/train/maxtext/translate.h"
#include "strata/train/state.h"

namespace strata::train::maxtext::curves {

inline const std::filesystem::path kFolder =
    std::filesystem::path(__FILE__).parent_path() / "testdata/curves";

inline nlohmann::json read(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(kFolder / name));
}

/// SplitMix64's output function at seed * 2^40 + i.
inline std::uint64_t hashed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = ((seed << 40) + i + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The batch of a step, by the sizes of a golden.
inline Batch batch_of(const nlohmann::json& golden, std::size_t step) {
  const auto batch = golden["batch"].get<std::int64_t>(),
             length = golden["length"].get<std::int64_t>();
  const auto seed = golden["seed"].get<std::uint64_t>() + step % 5;
  const auto vocabulary = golden["vocabulary"].get<std::uint64_t>();
  std::vector<std::int32_t> tokens, targets;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t s = 0; s <= length; ++s) {
      const auto at = static_cast<std::uint64_t>(b * (length + 1) + s);
      const auto token = static_cast<std::int32_t>(hashed(seed, at) % vocabulary);
      if (s < length) tokens.push_back(token);
      if (s > 0) targets.push_back(token);
    }
  return {array(tokens, Sizes{batch, length}), array(targets, Sizes{batch, length})};
}

/// A command line of a golden, resolved as a run of dataset_type=synthetic.
inline Resolved resolved(std::vector<std::string> line) {
  const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
  line.insert(line.end(), {"run_name=r", "base_output_directory=out", "dataset_type=synthetic",
                           "attention=dot_product"});
  return resolve(line, nothing);
}

/// A run of a golden's command line from a family's weights.
struct Trained {
  Config config;
  Base base;
  State state;
  Step step;

  Trained(const std::string& family, const std::vector<std::string>& line) {
    const Resolved keys = resolved(line);
    config = read_config({}, translate(keys).keys);
    auto source = model::published::open_directory((kFolder / family).string()).value();
    model::Pretrained loaded = model::load(model_config(keys), *source).value();
    base.model = loaded.model;
    base.weights = loaded.params;
    const Optimizer optimizer = make_optimizer(config, base);
    state = init(loaded.params, optimizer);
    step = make_step(base.model, optimizer, step_options(config, *base.model));
  }
  /// A step on a batch.
  Outcome operator()(const Batch& batch) {
    auto [outcome, next] = step(std::move(state), batch);
    state = std::move(next);
    return outcome;
  }
};

}  // namespace strata::train::maxtext::curves
