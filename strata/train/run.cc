#include "strata/train/run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "strata/api/sharding/devices.h"
#include "strata/api/sharding/distributed.h"
#include "strata/api/transform/jit.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/text.h"
#include "strata/checkpoint/tiers.h"
#include "strata/checkpoint/writer.h"
#include "strata/data/prefetch.h"
#include "strata/model/decoder/multi_token.h"
#include "strata/model/lora/peft.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/runtime/sharded.h"
#include "strata/train/config/router_options.h"
#include "strata/train/configurations.h"
#include "strata/train/evaluate/eval_lines.h"
#include "strata/train/evaluate/evaluate.h"
#include "strata/train/interrupt.h"
#include "strata/train/outcome_model.h"
#include "strata/train/pipeline.h"
#include "strata/train/processes.h"
#include "strata/train/report/memory_need.h"
#include "strata/train/report/mesh_report.h"
#include "strata/train/report/metrics.h"
#include "strata/train/report/plot.h"
#include "strata/train/report/report.h"
#include "strata/train/report/schedule_note.h"
#include "strata/train/report/step_figures.h"
#include "strata/train/run_tokenizer.h"
#include "strata/train/spool.h"
#include "strata/train/state.h"
#include "strata/train/step/first_trouble.h"
#include "strata/train/step/parallelism.h"

namespace strata::train {
namespace {

using Outcomes = RunResult::Outcome;

/// Notes of a checkpoint: the loss on what was kept before the first step, and at this one.
constexpr const char* kHeldOut = "held_out_before";
constexpr const char* kHeldOutNow = "held_out";
/// Files of a run that grow.
constexpr const char* kLines = "metrics/metrics.jsonl";
constexpr const char* kEvents = "tensorboard";

/// Speed of late steps; the first one, which compiles, does not count.
class Pace {
 public:
  void add(double seconds) {
    if (++steps_ == 1) return;
    average_ = steps_ == 2 ? seconds : 0.9 * average_ + 0.1 * seconds;
  }
  double seconds_per_step() const { return average_; }

 private:
  std::int64_t steps_ = 0;
  double average_ = 0;
};

/// The path of the first leaf whose norm is no number; empty when all are.
std::string first_not_finite(const tree::Tree& params, const std::vector<float>& norms) {
  std::string out;
  std::size_t i = 0;
  tree::for_each_path(params, [&](const std::string& path, const Array&) {
    if (out.empty() && !std::isfinite(norms.at(i))) out = path;
    ++i;
  });
  return out;
}

/// Frequent checkpoints of this process; the lasting ones are the run's own writer's.
checkpoint::TierOptions tiers_of(const Config& c) {
  return {.local = fmt::format("{}/{}/{}", c.local_checkpoint_directory, c.run_name,
                               distributed::process_index()),
          .local_period = c.local_checkpoint_period,
          .persistent = run_folder(c) + "/checkpoints"};
}

class Run {
 public:
  Run(const Config& config, Progress& progress, Base base, data::Dataset data,
      data::Dataset held_out)
      : c_(config),
        progress_(progress),
        base_(std::move(base)),
        data_(std::move(data)),
        held_out_(std::move(held_out)),
        mesh_(mesh_of(config)),
        step_function_(make_step(base_.model, make_optimizer(config, base_),
                                 step_options(config, *base_.model))),
        rate_(jit(make_schedule(config), {.name = "learning_rate"})),
        evaluate_(config, base_.model, data_, held_out_),
        flops_(base_.model->flops_per_step(sequences(config), config.max_target_length)),
        spool_(run_folder(config)),
        writer_(
            checkpoints(),
            {.newest = config.max_num_checkpoints_to_keep, .every = config.keep_period},
            [this](const std::string& folder) {
              result_.checkpoint = folder;
              progress_.line(fmt::format("saved {}", folder));
            },
            *checkpoint::any_format::named(config.checkpoint_format)) {
    const Optimizer optimizer = make_optimizer(config, base_);
    if (optimizer.frozen) {
      const auto paths = tree::paths(weight_types(config, base_).filter(*optimizer.frozen));
      still_["params"] = {paths.begin(), paths.end()};
    }
    if (has_tiers(config)) {
      checkpoint::TierOptions options = tiers_of(config);
      options.check = complete();
      tiers_.emplace(std::move(options));
    }
    if (mesh_)
      step_function_ = on_mesh(std::move(step_function_), mesh_, pipeline_of(config, *base_.model));
  }

  Status start();
  Result<RunResult> go();

 private:
  std::string checkpoints() const { return run_folder(c_) + "/checkpoints"; }
  std::string lines_path() const {
    return c_.metrics_file.empty() ? spool_.path(kLines) : c_.metrics_file;
  }
  std::string sources() const;
  Status resume();
  void put_state();
  void report_memory();
  /// The weights in one piece.
  tree::Tree weights() const {
    if (!mesh_) return state_.params;
    return state_.params.map([](const Array& w) { return processes::gathered(w); });
  }
  Status open_files();
  Status record(const Scalars& scalars) {
    return metrics_ ? metrics_->add(result_.step, scalars) : Status();
  }
  Status one_step();
  Status evaluate();
  Status begin_tuning();
  Status end_tuning();
  Status sample(const char* when);
  bool has_held_out() const {
    for (std::size_t i = 0; i < held_out_.sources().size(); ++i)
      if (held_out_.eval_batches(i) > 0) return true;
    return false;
  }
  Status save();
  Status save_locally();
  checkpoint::Checkpoint snapshot(const State& whole) const;
  /// Of a checkpoint, whether this run could go on from it.
  checkpoint::any_format::Check complete() const {
    return [this](const checkpoint::Checkpoint& c) { return check_complete(c, c_, base_); };
  }
  /// The newest whole checkpoint: process 0 finds it, the others read the same.
  Result<checkpoint::Latest> newest();
  bool lasting_due() const;
  Status finish();
  Scalars scalars(const Outcome& outcome, const StepReport& report) const;
  /// What is no number after this step; empty when all is well.
  std::string trouble(const Outcome& outcome, const Batch& batch) const;
  StepReport report_of(double seconds, double weights) const;
  void show(const StepReport& report);
  /// Whether the loss of this step's evaluation is low enough.
  bool reached_target() const {
    return c_.target_eval_loss > 0 && evaluated_ == result_.step &&
           *result_.held_out_after <= c_.target_eval_loss;
  }
  bool due(std::int64_t period) const {
    return period > 0 && (result_.step % period == 0 || result_.step == c_.steps);
  }

  const Config& c_;
  Progress& progress_;
  Base base_;
  data::Dataset data_, held_out_;
  const std::shared_ptr<const nn::LogicalMesh> mesh_;  // null: one device
  std::optional<data::Prefetch> batches_;
  Step step_function_;
  std::function<Array(const Array&)> rate_;
  Evaluator evaluate_;
  double flops_;
  State state_;
  std::optional<Metrics> metrics_;  // of process 0
  Pace pace_;
  const double begin_ = seconds_now();
  double productive_ = 0;  // seconds of steps behind the first
  bool compiled_ = false;
  RunResult result_;
  std::int64_t evaluated_ = -1;
  std::int64_t predicted_ = 0;    // bytes of the state on a device of the mesh
  std::int64_t saved_step_ = -1;  // the newest lasting one, which may still be being written
  double lasting_at_ = begin_;    // when that was saved
  std::optional<checkpoint::Tiers> tiers_;  // frequent ones
  checkpoint::Still still_;                 // weights that are frozen
  Spool spool_;
  checkpoint::Writer writer_;
};

/// The newest whole checkpoint, of both tiers.
Result<checkpoint::Latest> Run::newest() {
  if (tiers_) {
    auto restored = tiers_->restore();
    if (!restored) return restored.status();
    if (restored->peer >= 0)
      progress_.line(fmt::format("process {} gave {}", restored->peer, restored->folder));
    return checkpoint::Latest{std::move(restored->checkpoint), restored->folder,
                              std::move(restored->damaged)};
  }
  checkpoint::Latest found;
  if (processes::is_first()) {
    auto latest = checkpoint::any_format::load_latest(checkpoints(), complete());
    if (!latest) return latest.status();
    found = std::move(*latest);
  }
  const std::string folder = processes::of_first(found.folder);
  if (processes::is_first() || folder.empty()) return found;
  auto mine = checkpoint::any_format::load(folder);
  if (!mine)
    return Status(mine.status().code(),
                  "{}; process 0 goes on from there, and every process reads it: "
                  "base_output_directory has to be a folder that all of them see",
                  mine.status().message());
  found.checkpoint = std::move(*mine);
  found.folder = folder;
  return found;
}

Status Run::resume() {
  if (!c_.enable_checkpointing) return {};
  auto latest = newest();
  if (!latest) return latest.status();
  for (const Status& damaged : latest->damaged)
    progress_.line(fmt::format("damaged checkpoint passed over: {}", damaged.message()));
  if (!latest->checkpoint) {
    if (latest->damaged.empty()) return {};
    return Status(
        Code::corrupt,
        "{}: no checkpoint is whole; `strata checkpoint materialize --step N {} OUT` computes a "
        "step "
        "again from the first one on; remove the folder or choose another run_name to begin anew",
        checkpoints(), run_folder(c_));
  }
  auto state = from_checkpoint(*latest->checkpoint, c_, base_);
  if (!state) return state.status();
  if (std::string differs = check_data(*latest->checkpoint, data_); !differs.empty())
    progress_.line(
        fmt::format("note: the data is not what the checkpoint was trained on: {}", differs));
  state_ = std::move(*state);
  result_.step = latest->checkpoint->step;
  if (latest->folder.starts_with(checkpoints() + "/")) saved_step_ = result_.step;
  result_.checkpoint = latest->folder;
  if (auto loss = latest->checkpoint->notes.find("loss"); loss != latest->checkpoint->notes.end())
    result_.loss = std::strtof(loss->second.c_str(), nullptr);
  if (auto before = latest->checkpoint->notes.find(kHeldOut);
      before != latest->checkpoint->notes.end())
    result_.held_out_before = std::strtod(before->second.c_str(), nullptr);
  if (auto now = latest->checkpoint->notes.find(kHeldOutNow);
      now != latest->checkpoint->notes.end()) {
    result_.held_out_after = std::strtod(now->second.c_str(), nullptr);
    evaluated_ = result_.step;
  }
  progress_.line(fmt::format("going on from {}", latest->folder));
  return {};
}

std::string Run::sources() const {
  std::string out;
  for (const data::SourceInfo& s : data_.sources())
    out += fmt::format("{}{} ({}, {:.0f} %)", out.empty() ? "" : ", ", s.name,
                       human_count(static_cast<double>(s.train_tokens)), 100 * s.share);
  return out;
}

Status Run::start() {
  // What the mesh does not divide, and what does not fit, is told before weights are made.
  const StepProgram program = step_program(c_, base_, mesh_);
  if (Status s = check_memory(c_, base_, program, progress_); !s.ok()) return s;
  const std::string mesh = mesh_ ? mesh_report(program).to_string() : "";
  if (Status s = resume(); !s.ok()) return s;
  if (result_.checkpoint.empty()) state_ = init_state(c_, base_);
  if (mesh_) put_state();
  if (processes::is_first())
    if (Status s = open_files(); !s.ok()) return s;
  progress_.line(fmt::format("{} parameters, {} steps of {} tokens, {}; tokens to read: {}",
                             human_count(static_cast<double>(base_.model->count())), c_.steps,
                             sequences(c_) * c_.max_target_length, run_folder(c_), sources()));
  if (const std::string note = schedule_note(c_); !note.empty()) progress_.line(note);
  if (mesh_) progress_.line(mesh);
  if (const auto p = pipeline_of(c_, *base_.model)) progress_.line(pipeline_text(*p));
  return {};
}

Status Run::open_files() {
  if (Status s = note_configuration(run_folder(c_), result_.step, c_, data_); !s.ok()) return s;
  if (Status s = write_file_atomic(run_folder(c_) + "/config.yml", to_yaml(c_)); !s.ok()) return s;
  auto files = tokenizer_files(c_, data_.tokenizer());
  if (!files) return files.status();
  for (const auto& [name, bytes] : *files)
    if (Status s = write_file_atomic(run_folder(c_) + "/" + name, bytes); !s.ok()) return s;
  if (Status s = spool_.fetch(); !s.ok()) return s;
  auto metrics = Metrics::open({.lines = lines_path(), .events = spool_.path(kEvents)},
                               result_.checkpoint.empty() ? -1 : result_.step);
  if (!metrics) return metrics.status();
  metrics_ = std::move(*metrics);
  return {};
}

/// Cuts a state that is in one piece over the mesh.
void Run::put_state() {
  predicted_ = predicted_bytes(state_, *mesh_);
  state_ = put_on_mesh(std::move(state_), *mesh_);
}

/// What the devices hold behind the first step.
void Run::report_memory() {
  const std::int64_t held = measured_bytes(state_);
  progress_.line(fmt::format("each device holds {}B of state, {:.1f} % of what was predicted",
                             human_count(static_cast<double>(held)),
                             100.0 * static_cast<double>(held) / static_cast<double>(predicted_)));
}

StepReport Run::report_of(double seconds, double weights) const {
  StepReport r{.step = result_.step,
               .steps = c_.steps,
               .loss = result_.loss,
               .seconds = seconds,
               .flops = flops_,
               .devices = static_cast<double>(device_count(c_)),
               .total_weights = weights,
               .seconds_per_step = pace_.seconds_per_step(),
               .goodput = productive_ / std::max(seconds_now() - begin_, 1e-9),
               .device_tflops = c_.device_tflops};
  const auto read = static_cast<double>(result_.step * sequences(c_));
  for (std::size_t i = 0; i < data_.sources().size(); ++i)
    r.mix.emplace_back(data_.sources()[i].name,
                       static_cast<double>(data_.position(i, result_.step).elements) / read);
  return r;
}

void Run::show(const StepReport& r) {
  if (progress_.live()) progress_.show(progress_line(r));
  // On a terminal the state line says the same all the time; lines stay for a log.
  if (progress_.live() || !due(c_.log_period)) return;
  progress_.line(log_line(r));
  if (c_.log_goodput) progress_.line(goodput_line(r));
  if (c_.log_goodput && r.routers) progress_.line(experts_line(*r.routers));
}

std::string Run::trouble(const Outcome& outcome, const Batch& batch) const {
  const std::string gradient =
      first_not_finite(state_.params, outcome.gradient_norms.to_vector<float>());
  const std::string parameter =
      first_not_finite(state_.params, outcome.parameter_norms.to_vector<float>());
  const bool bad = !std::isfinite(result_.loss) || !gradient.empty();
  // The state that the step was taken from is there still.
  if (bad && !mesh_ && c_.gradient_clipping_threshold > 0) {
    progress_.show("looking for what is not finite first");
    const std::string first =
        first_trouble(state_, batch, base_.model, step_options(c_, *base_.model), base_.frozen);
    if (!first.empty())
      return fmt::format("{}; {}",
                         std::isfinite(result_.loss) ? "gradients are not finite"
                                                     : fmt::format("the loss is {}", result_.loss),
                         first);
  }
  if (!std::isfinite(result_.loss))
    return fmt::format(
        "the loss is {}{}", result_.loss,
        gradient.empty()
            ? ""
            : fmt::format(", and the gradient of {} is the first that is not finite", gradient));
  if (!gradient.empty()) return fmt::format("the gradient of {} is not finite", gradient);
  if (!parameter.empty()) return fmt::format("{} is not finite after the update", parameter);
  return {};
}

Scalars Run::scalars(const Outcome& outcome, const StepReport& r) const {
  Scalars out = {{"learning/loss", static_cast<float>(r.total_loss())}};
  const Array rate = rate_(Array(Literal::scalar(static_cast<std::int32_t>(r.step - 1))));
  for (auto& figure : step_figures(outcome, rate.item<float>())) out.push_back(std::move(figure));
  for (const auto& [name, value] :
       {std::pair{"perf/step_time_seconds", r.seconds},
        {"perf/per_device_tokens_per_sec", r.total_weights / r.seconds / r.devices},
        {"perf/per_device_tflops_per_sec", r.flops / r.seconds / r.devices * 1e-12}})
    out.emplace_back(name, static_cast<float>(value));
  if (const auto at = state_.optimizer.find("is_skipped"))
    out.emplace_back("optim/step_skipped", state_.optimizer.value(*at).item<bool>() ? 1.0f : 0.0f);
  if (r.routers) add_scalars(*r.routers, *outcome.routers, out);
  if (r.mtp_loss) out.emplace_back("learning/mtp_loss", static_cast<float>(*r.mtp_loss));
  if (outcome.z_loss) out.emplace_back("learning/z_loss", outcome.z_loss->item<float>());
  return out;
}

Status Run::one_step() {
  const double begin = seconds_now();
  Batch batch = to_batch((*batches_)());
  if (mesh_) batch = put_on_mesh(batch, *mesh_);
  auto [outcome, next] = step_function_(std::move(state_), batch);
  state_ = std::move(next);
  result_.loss = outcome.loss.item<float>();
  result_.trouble = trouble(outcome, batch);
  if (!result_.trouble.empty()) {
    result_.outcome = Outcomes::diverged;
    return {};
  }
  ++result_.step;
  const double seconds = seconds_now() - begin;
  pace_.add(seconds);
  if (mesh_ && !compiled_) report_memory();
  if (compiled_) productive_ += seconds;
  compiled_ = true;
  StepReport report = report_of(seconds, outcome.total_weights.item<double>());
  if (outcome.routers) report.routers = figures_of(*outcome.routers);
  if (outcome.mtp_loss) report.mtp_loss = outcome.mtp_loss->item<double>();
  if (pace_.seconds_per_step() > 0)
    result_.tokens_per_second = report.total_weights / pace_.seconds_per_step();
  show(report);
  return record(scalars(outcome, report));
}

Status Run::evaluate() {
  const EvalParts parts{step_options(c_, *base_.model).routers.has_value(),
                        model::decoder::further_layers(*base_.model) > 0};
  double since = seconds_now();
  const auto say = [&](const SourceLoss& so_far) {
    const double now = seconds_now();
    progress_.line(eval_batch_line(so_far.batches - 1, now - since, so_far, parts));
    since = now;
  };
  // Who sees each step sees each batch.
  const bool each = c_.log_period == 1;
  if (each) progress_.line(fmt::format("Starting eval after train step {}", result_.step));
  const std::vector<SourceLoss> losses =
      evaluate_(state_.params, each ? Evaluator::OnBatch(say) : nullptr);
  const SourceLoss all = total(losses);
  evaluated_ = result_.step;
  result_.held_out_after = all.loss();
  Scalars scalars = {{"eval/avg_loss", static_cast<float>(all.loss())},
                     {"eval/avg_perplexity", static_cast<float>(std::exp(all.loss()))},
                     {"eval/total_weights", static_cast<float>(all.tokens)}};
  for (const SourceLoss& s : losses) {
    scalars.emplace_back("eval/" + s.source + "/loss", static_cast<float>(s.loss()));
    scalars.emplace_back("eval/" + s.source + "/loss_per_byte",
                         static_cast<float>(s.loss_per_byte()));
  }
  if (all.further > 0)
    scalars.emplace_back("eval/avg_mtp_acceptance_rate_percent",
                         static_cast<float>(all.acceptance_rate()));
  const auto batches = static_cast<double>(std::max<std::int64_t>(all.batches, 1));
  if (c_.z_loss_multiplier > 0)
    scalars.emplace_back("eval/avg_z_loss", static_cast<float>(all.z_loss / batches));
  if (parts.experts)
    scalars.emplace_back("eval/avg_moe_lb_loss", static_cast<float>(all.load_balance / batches));
  if (parts.further_tokens)
    scalars.emplace_back("eval/avg_mtp_loss", static_cast<float>(all.mtp_loss / batches));
  progress_.line(fmt::format("{}\n{}", eval_line(result_.step, all, parts), to_table(losses)));
  return record(scalars);
}

/// What the model is before it is tuned.
Status Run::begin_tuning() {
  if (!base_.published()) return {};
  if (processes::is_first())
    if (Status s = begin_outcome(c_, base_); !s.ok()) return s;
  if (result_.step > 0) return {};
  if (has_held_out()) {
    progress_.show("evaluating what was kept");
    if (Status s = evaluate(); !s.ok()) return s;
    result_.held_out_before = result_.held_out_after;
  }
  return sample("before");
}

/// What it has become.
Status Run::end_tuning() {
  if (!base_.published() || result_.outcome == Outcomes::diverged) return {};
  if (result_.outcome == Outcomes::done || result_.outcome == Outcomes::target_reached) {
    if (has_held_out() && evaluated_ != result_.step)
      if (Status s = evaluate(); !s.ok()) return s;
    if (result_.held_out_before && result_.held_out_after)
      progress_.line(fmt::format("held-out loss {:.4f} -> {:.4f}", *result_.held_out_before,
                                 *result_.held_out_after));
    if (Status s = sample("after"); !s.ok()) return s;
  }
  if (model::lora::has_adapters(*base_.model)) return {};  // `finish` writes them by themselves
  const tree::Tree learned = weights();
  if (!processes::is_first()) return {};
  if (Status s = write_outcome(c_, base_, learned); !s.ok()) return s;
  result_.model = outcome_folder(c_);
  return {};
}

Status Run::sample(const char* when) {
  if (c_.eval_prompt.empty()) return {};
  const tree::Tree learned = weights();
  if (!processes::is_first()) return {};
  auto answer = answer_of(base_, learned, c_.eval_prompt);
  if (!answer) return answer.status();
  progress_.line(fmt::format("{} tuning, '{}' is answered: {}", when, c_.eval_prompt, *answer));
  return {};
}

/// What is saved of this step, of which `whole` is the state.
checkpoint::Checkpoint Run::snapshot(const State& whole) const {
  checkpoint::Checkpoint snapshot = to_checkpoint(whole, result_.step, c_, data_, base_);
  snapshot.notes["loss"] = fmt::format("{}", result_.loss);
  if (result_.held_out_before)
    snapshot.notes[kHeldOut] = fmt::format("{}", *result_.held_out_before);
  if (base_.published() && evaluated_ == result_.step)
    snapshot.notes[kHeldOutNow] = fmt::format("{}", *result_.held_out_after);
  return snapshot;
}

/// A frequent checkpoint, of a step that has no lasting one: each process keeps all of it, so that
/// any one of them can give it to the others, however many there are then.
Status Run::save_locally() {
  if (saved_step_ == result_.step) return {};
  const State whole = processes::everywhere(state_);
  if (processes::is_first()) {
    if (Status s = metrics_->sync(); !s.ok()) return s;
    if (Status s = spool_.publish(); !s.ok()) return s;
  }
  return tiers_->save(snapshot(whole), still_);
}

/// Whether the step's checkpoint goes to the lasting tier.
bool Run::lasting_due() const {
  const std::int64_t minutes = c_.multi_tier_checkpointing_backup_interval_minutes;
  if (!c_.enable_multi_tier_checkpointing || minutes == 0) return due(c_.checkpoint_period);
  return due(c_.local_checkpoint_period) &&
         processes::any(seconds_now() - lasting_at_ >= 60 * static_cast<double>(minutes));
}

Status Run::save() {
  if (!c_.enable_checkpointing || saved_step_ == result_.step) return {};
  const State whole = processes::gathered(state_);
  saved_step_ = result_.step;
  lasting_at_ = seconds_now();
  if (!processes::is_first()) return {};
  if (Status s = metrics_->sync(); !s.ok()) return s;
  if (Status s = spool_.publish(); !s.ok()) return s;
  if (Status s = writer_.save(snapshot(whole), still_); !s.ok()) return s;
  return c_.async_checkpointing ? Status() : writer_.wait();
}

/// Saves what is not saved, and draws the curve of the whole run.
Status Run::finish() {
  if (result_.outcome != Outcomes::diverged) {
    if (Status s = save(); !s.ok()) return s;
  }
  if (Status s = writer_.wait(); !s.ok()) return s;
  if (tiers_)
    if (Status s = tiers_->wait(); !s.ok()) return s;
  if (model::lora::has_adapters(*base_.model) && result_.outcome != Outcomes::diverged) {
    const std::string folder = run_folder(c_) + "/adapter";
    const tree::Tree learned = weights();
    if (processes::is_first())
      if (Status s =
              model::lora::save_peft(folder, {base_.model, learned}, {.base_model = c_.init});
          !s.ok())
        return s;
    result_.adapter = folder;
  }
  if (!processes::is_first()) return {};
  if (Status s = metrics_->sync(); !s.ok()) return s;
  if (Status s = spool_.publish(); !s.ok()) return s;
  auto lines = read_metrics(lines_path());
  if (!lines) return lines.status();
  result_.curve = run_folder(c_) + "/loss.png";
  return write_png(loss_chart(*lines, c_.run_name), result_.curve);
}

Result<RunResult> Run::go() {
  Interrupt interrupt(/*saved=*/c_.enable_checkpointing);
  if (Status s = begin_tuning(); !s.ok()) return s;
  const double begin = seconds_now();
  if (result_.step < c_.steps) progress_.show("compiling the first step");
  batches_.emplace([this](std::int64_t step) { return data_.batch(step); }, result_.step, c_.steps,
                   data::PrefetchOptions{.most_ahead = 16, .most_threads = 4});
  while (result_.step < c_.steps) {
    if (Status s = one_step(); !s.ok()) return s;
    if (Status s = writer_.poll(); !s.ok()) return s;
    if (result_.outcome == Outcomes::diverged) break;
    if (evaluates_after(c_, result_.step)) {
      if (Status s = evaluate(); !s.ok()) return s;
    }
    if (reached_target()) {
      progress_.line(target_line(c_.target_eval_loss));
      result_.outcome = Outcomes::target_reached;
      break;
    }
    if (lasting_due()) {
      if (Status s = save(); !s.ok()) return s;
    }
    if (tiers_) {
      if (Status s = tiers_->poll(); !s.ok()) return s;
      if (tiers_->due(result_.step))
        if (Status s = save_locally(); !s.ok()) return s;
    }
    if (result_.step == c_.steps) break;
    if (processes::any(interrupt.asked()))
      result_.outcome = Outcomes::interrupted;
    else if (c_.max_seconds > 0 && processes::any(seconds_now() - begin >= c_.max_seconds))
      result_.outcome = Outcomes::time_over;
    if (result_.outcome != Outcomes::done) break;
  }
  progress_.clear();
  if (Status s = end_tuning(); !s.ok()) return s;
  if (Status s = finish(); !s.ok()) return s;
  return result_;
}

}  // namespace

Result<RunResult> run(const Config& given, Progress& shown) {
  Progress silent(-1);
  Progress& progress = processes::is_first() ? shown : silent;
  // From here on keys say how many devices there are, in checkpoints and config.yml too.
  const Config config =
      names_mesh(given) || runtime::distributed::process_count() > 1
          ? with_devices(given, static_cast<std::int64_t>(runtime::mesh_devices().size()))
          : given;
  auto base = open_base(config);
  if (!base) return base.status();
  for (const std::string& note : base->notes) progress.line("note: " + note);
  (void)make_optimizer(config, *base);  // refuses groups that fit no weight before texts are read
  auto data = open_data(config, *base, &progress);
  progress.clear();
  if (!data) return data.status();
  auto held_out = open_eval_data(config, *base, *data, &progress);
  progress.clear();
  if (!held_out) return held_out.status();
  for (std::size_t i = 0; config.eval_interval > 0 && i < held_out->sources().size(); ++i) {
    const data::SourceInfo& s = held_out->sources()[i];
    if (held_out->eval_batches(i) > 0) continue;
    return Status(Code::invalid,
                  "{}: the text is too short: {} of the {} tokens of {} are kept for "
                  "evaluation, 2 are needed",
                  config.eval_files.empty() ? fmt::format("eval_fraction={}", config.eval_fraction)
                                            : "eval_files",
                  s.eval_tokens, s.tokens, s.name);
  }
  std::optional<FileLock> lock;
  if (processes::is_first()) {
    if (Status s = make_folders(run_folder(config)); !s.ok()) return s;
    if (!is_object_path(run_folder(config))) {  // nothing can be locked there
      auto taken = FileLock::take(run_folder(config) + "/lock");
      if (!taken && taken.status().code() == Code::exists)
        return Status(Code::exists,
                      "{}: another `strata train` writes this run; wait for it, or choose another "
                      "run_name",
                      run_folder(config));
      if (!taken) return taken.status();
      lock.emplace(std::move(*taken));
    }
  }
  Run r(config, progress, std::move(*base), std::move(*data), std::move(*held_out));
  if (Status s = r.start(); !s.ok()) return s;
  return r.go();
}

}  // namespace strata::train
