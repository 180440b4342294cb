#include "strata/train/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "strata/api/sharding/devices.h"
#include "strata/base/file.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/damage.h"
#include "strata/data/prefetch.h"
#include "strata/train/config/config.h"
#include "strata/train/config/router_options.h"
#include "strata/train/pipeline.h"
#include "strata/train/state.h"
#include "strata/train/step/parallelism.h"
#include "strata/train/step/state_sharding.h"
#include "strata/train/step/step.h"

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
    if (!checkpoint::is_damage(root, c.status())) return c.status();
    progress.line(fmt::format("damaged checkpoint passed over: {}", c.status().message()));
  }
  return std::optional<checkpoint::Checkpoint>();
}

/// The configuration that a step was taken under: that of the first save at or after it, which the
/// same process wrote, else the run's newest.
Result<Config> config_at(const std::string& run, std::int64_t step) {
  const std::string file = run + "/config.yml";
  const auto root = checkpoint::root_of(run);
  if (!root) return root.status();
  auto steps = checkpoint::any_format::steps(*root);
  if (!steps) return steps.status();
  for (const auto& [at, folder] : *steps) {
    if (at < step) continue;
    if (auto c = checkpoint::any_format::load(folder)) return config_of(*c);
  }
  auto text = read_file(file);
  if (!text) return text.status();
  return parse_config(*text, file);
}

/// The mesh that the run had, over as many CPU devices of this process: bits depend on it alone,
/// and not on how many processes shared it. Null for one device.
std::shared_ptr<const nn::LogicalMesh> mesh_at(const Config& c) {
  if (!names_mesh(c)) return nullptr;
  (void)cpu_devices(static_cast<int>(device_count(c)));
  return mesh_of(c);
}

}  // namespace

Result<checkpoint::Checkpoint> replay(const std::string& run, std::int64_t step,
                                      Progress& progress) {
  const auto there = is_there(run + "/config.yml");
  if (!there) return there.status();
  if (!*there) return Status(Code::not_found, "{}: no run is there: it has no config.yml", run);
  const auto root = checkpoint::root_of(run);
  if (!root) return root.status();
  auto from = nearest(*root, step, progress);
  if (!from) return from.status();
  auto config = config_at(run, step);
  if (!config) return config.status();
  const Config& c = *config;
  if (step < 0 || step > c.steps)
    throw ConfigError(fmt::format("step {}: the run has steps from 0 to {}", step, c.steps));
  const std::shared_ptr<const nn::LogicalMesh> mesh = mesh_at(c);
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
  Step step_function =
      make_step(base->model, make_optimizer(c, *base), step_options(c, *base->model));
  if (mesh) {
    step_function = on_mesh(std::move(step_function), mesh, pipeline_of(c, *base->model));
    state = put_on_mesh(std::move(state), *mesh);
  }
  data::Prefetch batches([&](std::int64_t n) { return data->batch(n); }, at, step);
  for (; at < step; ++at) {
    Batch batch = to_batch(batches());
    if (mesh) batch = put_on_mesh(batch, *mesh);
    auto [outcome, next] = step_function(std::move(state), std::move(batch));
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
