#include "strata/train/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>

#include "strata/api/sharding/devices.h"
#include "strata/api/transform/jit.h"
#include "strata/base/file.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/damage.h"
#include "strata/data/prefetch.h"
#include "strata/train/config/config.h"
#include "strata/train/config/router_options.h"
#include "strata/train/pipeline.h"
#include "strata/train/report/step_figures.h"
#include "strata/train/state.h"
#include "strata/train/step/parallelism.h"
#include "strata/train/step/state_sharding.h"
#include "strata/train/step/step.h"

namespace strata::train {
namespace {

/// The saves nearest to a step that are whole: the newest at or before it, and the oldest at or
/// after it, of which the notes alone are held.
struct Saves {
  std::optional<checkpoint::Checkpoint> before, after;
};

/// The first of these that is whole; damaged ones are told.
template <class Steps>
Result<std::optional<checkpoint::Checkpoint>> first_whole(const std::string& root,
                                                          const Steps& steps, Progress& progress) {
  for (const auto& [at, folder] : steps) {
    auto c = checkpoint::any_format::load(folder);
    if (c) return std::optional(std::move(*c));
    if (!checkpoint::is_damage(root, c.status())) return c.status();
    progress.line(fmt::format("damaged checkpoint passed over: {}", c.status().message()));
  }
  return std::optional<checkpoint::Checkpoint>();
}

Result<Saves> saves_around(const std::string& run, std::int64_t step, Progress& progress) {
  const auto root = checkpoint::root_of(run);
  if (!root) return root.status();
  auto steps = checkpoint::any_format::steps(*root);
  if (!steps) return steps.status();
  const auto later = std::ranges::find_if(*steps, [&](const auto& s) { return s.first > step; });
  Saves out;
  auto before = first_whole(
      *root, std::ranges::reverse_view(std::ranges::subrange(steps->begin(), later)), progress);
  if (!before) return before.status();
  out.before = std::move(*before);
  if (out.before && out.before->step == step) {
    out.after = checkpoint::Checkpoint{step, {}, out.before->notes};
    return out;
  }
  auto after = first_whole(*root, std::ranges::subrange(later, steps->end()), progress);
  if (!after) return after.status();
  out.after = std::move(*after);
  if (out.after) out.after->parts.clear();
  return out;
}

/// The configuration that a step was taken under: that of the first save at or after it, which the
/// same process wrote, else the run's newest.
Result<Config> config_at(const std::string& run, const Saves& saves) {
  if (saves.after) return config_of(*saves.after);
  auto text = read_file(run + "/config.yml");
  if (!text) return text.status();
  return parse_config(*text, run + "/config.yml");
}

/// Refuses data and a base that are not those of a save.
Status check_source(const std::string& run, const checkpoint::Checkpoint& save, const Config& c,
                    const Base& base, const data::Dataset& data) {
  check_base(save, c, base);
  const std::string differs = check_data(save, data);
  if (differs.empty()) return {};
  return Status(Code::invalid, "{}: the data is not what the run read for its save of step {}: {}",
                run, save.step, differs);
}

/// The lines of the run in this folder, which may be a copy.
Result<StepRecord> record_of(const std::string& run, const Config& c) {
  return StepRecord::read(c.metrics_file.empty() ? run + "/metrics/metrics.jsonl" : c.metrics_file);
}

/// The mesh that the run had, over as many CPU devices of this process: bits depend on it alone,
/// and not on how many processes shared it. Null for one device.
std::shared_ptr<const nn::LogicalMesh> mesh_at(const Config& c) {
  if (!names_mesh(c)) return nullptr;
  (void)cpu_devices(static_cast<int>(device_count(c)));
  return mesh_of(c);
}

/// Of a step that has other figures than the run's metrics.
Status not_the_runs(const std::string& run, std::int64_t step, const std::string& differs) {
  return Status(Code::invalid,
                "{}: step {} is not the one that its metrics tell of: {}; the run went on under "
                "other keys, data or another build at this step or before, or the line was changed",
                run, step, differs);
}

}  // namespace

Result<Replayed> replay(const std::string& run, std::int64_t step, Progress& progress) {
  const auto there = is_there(run + "/config.yml");
  if (!there) return there.status();
  if (!*there) return Status(Code::not_found, "{}: no run is there: it has no config.yml", run);
  auto saves = saves_around(run, step, progress);
  if (!saves) return saves.status();
  auto config = config_at(run, *saves);
  if (!config) return config.status();
  const Config& c = *config;
  if (step < 0 || step > c.steps)
    throw ConfigError(fmt::format("step {}: the run has steps from 0 to {}", step, c.steps));
  const std::shared_ptr<const nn::LogicalMesh> mesh = mesh_at(c);
  auto record = record_of(run, c);
  if (!record) return record.status();
  auto base = open_base(c);
  if (!base) return base.status();
  auto data = open_data(c, *base, &progress);
  progress.clear();
  if (!data) return data.status();
  for (const auto* save : {&saves->before, &saves->after})
    if (*save)
      if (Status s = check_source(run, **save, c, *base, *data); !s.ok()) return s;
  State state;
  Replayed out;
  std::int64_t at = 0;
  std::string loss;
  if (saves->before) {
    auto restored = from_checkpoint(*saves->before, c, *base);
    if (!restored) return restored.status();
    state = std::move(*restored);
    at = saves->before->step;
    if (const auto note = saves->before->notes.find("loss"); note != saves->before->notes.end())
      loss = note->second;
  } else {
    state = init_state(c, *base);
  }
  progress.line(fmt::format("replaying steps {} to {}", at, step));
  Step step_function =
      make_step(base->model, make_optimizer(c, *base), step_options(c, *base->model));
  const auto rate = jit(make_schedule(c), {.name = "learning_rate"});
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
    const Array number(Literal::scalar(static_cast<std::int32_t>(at)));
    const std::string differs =
        record->check(at + 1, step_figures(outcome, rate(number).item<float>()));
    if (!differs.empty()) {
      progress.clear();
      return not_the_runs(run, at + 1, differs);
    }
    ++out.steps;
    out.unchecked += record->has(at + 1) ? 0 : 1;
    progress.show(fmt::format("step {} of {}", at + 1, step));
  }
  progress.clear();
  out.checkpoint = to_checkpoint(state, step, c, *data, *base);
  if (!loss.empty()) out.checkpoint.notes["loss"] = loss;
  return out;
}

}  // namespace strata::train
