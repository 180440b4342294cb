#include "strata/train/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "strata/base/file.h"
#include "strata/checkpoint/any_format.h"
#include "strata/data/prefetch.h"
#include "strata/train/config.h"
#include "strata/train/router_options.h"
#include "strata/train/state.h"
#include "strata/train/step.h"

namespace strata::train {
namespace {

/// The newest whole checkpoint at or before a step.
Result<std::optional<checkpoint::Checkpoint>> nearest(const std::string& root, std::int64_t step,
                                                      Progress& progress) {
  auto steps = checkpoint::any_format::steps(root);
  if (!steps) return steps.status();
  std::erase_if(*steps, [&](const auto& s) { return s.first > step; });
  for (auto at = steps->rbegin(); at != steps->rend(); ++at) {
    auto c = checkpoint::any_format::load(at->second);
    if (c) return std::optional(std::move(*c));
    if (c.status().code() == Code::denied || c.status().code() == Code::unsupported)
      return c.status();
    progress.line(fmt::format("damaged checkpoint passed over: {}", c.status().message()));
  }
  return std::optional<checkpoint::Checkpoint>();
}

/// The configuration that a step was taken under: that of the first save at or after it, which the
/// same process wrote, else the run's newest.
Result<Config> config_at(const std::string& run, std::int64_t step) {
  const std::string root = checkpoint::root_of(run), file = run + "/config.yml";
  auto steps = checkpoint::any_format::steps(root);
  if (!steps) return steps.status();
  for (const auto& [at, folder] : *steps) {
    if (at < step) continue;
    if (auto c = checkpoint::any_format::load(folder)) return config_of(*c);
  }
  auto text = read_file(file);
  if (!text) return text.status();
  return parse_config(*text, file);
}

}  // namespace

Result<checkpoint::Checkpoint> replay(const std::string& run, std::int64_t step,
                                      Progress& progress) {
  if (!file_exists(run + "/config.yml")) return Status(Code::not_found, "{}: no run is there", run);
  auto from = nearest(checkpoint::root_of(run), step, progress);
  if (!from) return from.status();
  auto config = config_at(run, step);
  if (!config) return config.status();
  const Config& c = *config;
  if (step < 0 || step > c.steps)
    throw ConfigError(fmt::format("step {}: the run has steps from 0 to {}", step, c.steps));
  auto base = open_base(c);
  if (!base) return base.status();
  auto data = open_data(c, *base, &progress);
  progress.clear();
  if (!data) return data.status();
  State state;
  std::int64_t at = 0;
  std::string loss;
  if (*from) {
    if (std::string differs = check_data(**from, *data); !differs.empty())
      return Status(Code::invalid, "{}: the data is not what the run read: {}", run, differs);
    auto restored = from_checkpoint(**from, c, *base);
    if (!restored) return restored.status();
    state = std::move(*restored);
    at = (*from)->step;
    if (const auto note = (*from)->notes.find("loss"); note != (*from)->notes.end())
      loss = note->second;
  } else {
    state = init_state(c, *base);
  }
  progress.line(fmt::format("replaying steps {} to {}", at, step));
  const Step step_function =
      make_step(base->model, make_optimizer(c, *base), step_options(c, *base->model));
  data::Prefetch batches([&](std::int64_t n) { return data->batch(n); }, at, step);
  for (; at < step; ++at) {
    auto [outcome, next] = step_function(std::move(state), to_batch(batches()));
    state = std::move(next);
    loss = fmt::format("{}", outcome.loss.item<float>());
    progress.show(fmt::format("step {} of {}", at + 1, step));
  }
  progress.clear();
  checkpoint::Checkpoint out = to_checkpoint(state, step, c, *data, *base);
  if (!loss.empty()) out.notes["loss"] = loss;
  return out;
}

}  // namespace strata::train
