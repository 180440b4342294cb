#include "strata/train/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "strata/api/sharding/devices.h"
#include "strata/api/transform/jit.h"
#include "strata/base/file.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/damage.h"
#include "strata/data/prefetch.h"
#include "strata/train/config/config.h"
#include "strata/train/config/router_options.h"
#include "strata/train/configurations.h"
#include "strata/train/pipeline.h"
#include "strata/train/report/step_figures.h"
#include "strata/train/state.h"
#include "strata/train/step/parallelism.h"
#include "strata/train/step/state_sharding.h"
#include "strata/train/step/step.h"

namespace strata::train {
namespace {

using checkpoint::Checkpoint;
using Steps = std::vector<std::pair<std::int64_t, std::string>>;

/// Steps that a run took under one configuration: those behind `begin`, up to `end`.
struct Stretch {
  std::int64_t begin = 0, end = 0;
  Config config;
  /// What the run noted of its data when it began to take them; empty: saves have to tell.
  std::string data;
  /// Notes of the nearest saves that are whole, at or before its begin and at or after its end.
  std::vector<Checkpoint> witnesses;
};

/// A run's folder, of which steps are computed again.
class Replay {
 public:
  Replay(std::string run, Progress& progress) : run_(std::move(run)), progress_(progress) {}
  Result<Replayed> to(std::int64_t step);

 private:
  Result<std::optional<Checkpoint>> first_whole(const Steps& steps);
  Result<std::optional<Checkpoint>> newest_until(std::int64_t step);
  Result<std::optional<Checkpoint>> oldest_from(std::int64_t step);
  Result<std::vector<Stretch>> stretches(const std::optional<Checkpoint>& from, std::int64_t step);
  Result<Stretch> without_note(std::int64_t begin, std::int64_t end,
                               const std::optional<Checkpoint>& from);
  Status check_source(const Stretch& stretch, const Base& base, const data::Dataset& data) const;
  Result<Checkpoint> take(const Stretch& stretch, const std::optional<Checkpoint>& from);

  const std::string run_;
  Progress& progress_;
  Steps saves_;
  Replayed out_;
};

/// The first of these that is whole; damaged ones are told.
Result<std::optional<Checkpoint>> Replay::first_whole(const Steps& steps) {
  for (const auto& [at, folder] : steps) {
    auto c = checkpoint::any_format::load(
        folder, [](const Checkpoint& found) { return check_complete(found); });
    if (c) return std::optional(std::move(*c));
    if (!checkpoint::is_damage(run_, c.status())) return c.status();
    progress_.line(fmt::format("damaged checkpoint passed over: {}", c.status().message()));
  }
  return std::optional<Checkpoint>();
}

Result<std::optional<Checkpoint>> Replay::newest_until(std::int64_t step) {
  Steps steps = saves_;
  std::erase_if(steps, [&](const auto& s) { return s.first > step; });
  std::ranges::reverse(steps);
  return first_whole(steps);
}

Result<std::optional<Checkpoint>> Replay::oldest_from(std::int64_t step) {
  Steps steps = saves_;
  std::erase_if(steps, [&](const auto& s) { return s.first < step; });
  return first_whole(steps);
}

/// The notes of a save without its tensors.
Checkpoint notes_of(const Checkpoint& c) { return {c.step, {}, c.notes}; }

/// Steps that the run noted no configuration of: that of the first save at or after them, which the
/// same process wrote, else the run's newest.
Result<Stretch> Replay::without_note(std::int64_t begin, std::int64_t end,
                                     const std::optional<Checkpoint>& from) {
  Stretch out{begin, end, {}, {}, {}};
  if (from) out.witnesses.push_back(notes_of(*from));
  if (from && from->step == end) {
    out.config = config_of(*from);
    return out;
  }
  auto after = oldest_from(end);
  if (!after) return after.status();
  if (*after) {
    out.config = config_of(**after);
    out.witnesses.push_back(notes_of(**after));
    return out;
  }
  auto text = read_file(run_ + "/config.yml");
  if (!text) return text.status();
  out.config = parse_config(*text, run_ + "/config.yml");
  return out;
}

/// What is to be taken again from a save, or from the first weights, to a step.
Result<std::vector<Stretch>> Replay::stretches(const std::optional<Checkpoint>& from,
                                               std::int64_t step) {
  auto noted = read_configurations(run_);
  if (!noted) return noted.status();
  const std::int64_t begin = from ? from->step : 0;
  std::vector<Stretch> out;
  const std::int64_t first = noted->empty() ? step + 1 : noted->front().from;
  const bool is_saved = from && begin == step;
  if (is_saved || begin < first) {
    auto stretch = without_note(begin, is_saved ? step : std::min(first, step), from);
    if (!stretch) return stretch.status();
    out.push_back(std::move(*stretch));
  }
  for (std::size_t i = 0; i < noted->size(); ++i) {
    const Configuration& c = (*noted)[i];
    const std::int64_t at = std::max(c.from, begin),
                       to = i + 1 < noted->size() ? std::min((*noted)[i + 1].from, step) : step;
    // Without steps there is one alone, of the first weights.
    if (at > to || (at == to && (at < step || !out.empty()))) continue;
    const std::string name = fmt::format("{}: configuration from step {}", run_, c.from);
    out.push_back({at, to, parse_config(c.config, name), c.data, {}});
    // A base is the same as long as the run goes on.
    if (from || out.back().config.init.empty()) continue;
    auto after = oldest_from(step);
    if (!after) return after.status();
    if (*after) out.back().witnesses.push_back(notes_of(**after));
  }
  return out;
}

/// Refuses data and a base that are not those of the run's steps.
Status Replay::check_source(const Stretch& s, const Base& base, const data::Dataset& data) const {
  for (const Checkpoint& save : s.witnesses) {
    check_base(save, s.config, base);
    if (!s.data.empty()) continue;
    if (const std::string differs = check_data(save, data); !differs.empty())
      return Status(Code::invalid,
                    "{}: the data is not what the run read for its save of step {}: {}", run_,
                    save.step, differs);
  }
  if (s.data.empty()) return {};
  const std::string differs = data.check_state(s.data);
  if (differs.empty()) return {};
  return Status(Code::invalid, "{}: the data is not what the run read from step {} on: {}", run_,
                s.begin, differs);
}

/// The lines of the run in this folder, which may be a copy.
Result<StepRecord> record_of(const std::string& run, const Config& c) {
  return StepRecord::read(c.metrics_file.empty() ? run + "/metrics/metrics.jsonl" : c.metrics_file);
}

/// Of a step that has other figures than the run's metrics.
Status not_the_runs(const std::string& run, std::int64_t step, const std::string& differs) {
  return Status(Code::invalid,
                "{}: step {} is not the one that its metrics tell of: {}; the run went on under "
                "other keys, data or another build at this step or before, or the line was changed",
                run, step, differs);
}

/// The devices of the runs' meshes, as many CPU devices of this process as the largest of them has:
/// bits depend on the mesh alone, and not on how many processes shared it.
void find_devices(const std::vector<Stretch>& all) {
  std::int64_t most = 0;
  for (const Stretch& s : all)
    if (names_mesh(s.config)) most = std::max(most, device_count(s.config));
  if (most > 0) (void)cpu_devices(static_cast<int>(most));
}

/// Takes the steps of a stretch, as a run does that goes on from a checkpoint.
Result<Checkpoint> Replay::take(const Stretch& s, const std::optional<Checkpoint>& from) {
  const Config& c = s.config;
  const std::shared_ptr<const nn::LogicalMesh> mesh = mesh_of(c);
  auto record = record_of(run_, c);
  if (!record) return record.status();
  auto base = open_base(c);
  if (!base) return base.status();
  auto data = open_data(c, *base, &progress_);
  progress_.clear();
  if (!data) return data.status();
  if (Status differs = check_source(s, *base, *data); !differs.ok()) return differs;
  State state;
  std::string loss;
  if (from) {
    auto restored = from_checkpoint(*from, c, *base);
    if (!restored) return restored.status();
    state = std::move(*restored);
    if (const auto note = from->notes.find("loss"); note != from->notes.end()) loss = note->second;
  } else {
    state = init_state(c, *base);
  }
  progress_.line(fmt::format("replaying steps {} to {}", s.begin, s.end));
  Step step_function =
      make_step(base->model, make_optimizer(c, *base), step_options(c, *base->model));
  const auto rate = jit(make_schedule(c), {.name = "learning_rate"});
  if (mesh) {
    step_function = on_mesh(std::move(step_function), mesh, pipeline_of(c, *base->model));
    state = put_on_mesh(std::move(state), *mesh);
  }
  data::Prefetch batches([&](std::int64_t n) { return data->batch(n); }, s.begin, s.end);
  for (std::int64_t at = s.begin; at < s.end; ++at) {
    Batch batch = to_batch(batches());
    if (mesh) batch = put_on_mesh(batch, *mesh);
    auto [outcome, next] = step_function(std::move(state), std::move(batch));
    state = std::move(next);
    loss = fmt::format("{}", outcome.loss.item<float>());
    const Array number(Literal::scalar(static_cast<std::int32_t>(at)));
    const std::string differs =
        record->check(at + 1, step_figures(outcome, rate(number).item<float>()));
    if (!differs.empty()) {
      progress_.clear();
      return not_the_runs(run_, at + 1, differs);
    }
    ++out_.steps;
    out_.unchecked += record->has(at + 1) ? 0 : 1;
    progress_.show(fmt::format("step {} of {}", at + 1, s.end));
  }
  progress_.clear();
  Checkpoint out = to_checkpoint(state, s.end, c, *data, *base);
  if (!loss.empty()) out.notes["loss"] = loss;
  return out;
}

Result<Replayed> Replay::to(std::int64_t step) {
  if (step < 0) throw ConfigError(fmt::format("step {}: the first weights are step 0", step));
  const auto root = checkpoint::root_of(run_);
  if (!root) return root.status();
  auto saves = checkpoint::any_format::steps(*root);
  if (!saves) return saves.status();
  saves_ = std::move(*saves);
  auto at = newest_until(step);
  if (!at) return at.status();
  auto all = stretches(*at, step);
  if (!all) return all.status();
  const Config& last = all->back().config;
  if (step > last.steps)
    throw ConfigError(fmt::format("step {}: the run has steps from 0 to {}", step, last.steps));
  find_devices(*all);
  for (const Stretch& s : *all) {
    auto next = take(s, *at);
    if (!next) return next.status();
    *at = std::move(*next);
  }
  out_.checkpoint = std::move(**at);
  return std::move(out_);
}

}  // namespace

Result<Replayed> replay(const std::string& run, std::int64_t step, Progress& progress) {
  const auto there = is_there(run + "/config.yml");
  if (!there) return there.status();
  if (!*there) return Status(Code::not_found, "{}: no run is there: it has no config.yml", run);
  return Replay(run, progress).to(step);
}

}  // namespace strata::train
