#include "strata/train/run.h"

#include <cmath>

#include "strata/base/text.h"
#include "strata/checkpoint/writer.h"
#include "strata/data/prefetch.h"
#include "strata/train/interrupt.h"
#include "strata/train/metrics.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using Outcome = RunResult::Outcome;

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

class Run {
 public:
  Run(const Config& config, Progress& progress, data::Dataset data)
      : c_(config),
        progress_(progress),
        data_(std::move(data)),
        step_function_(make_step(model_config(config), make_optimizer(config))),
        eval_function_(make_eval(model_config(config))),
        flops_(llama::flops_per_step(model_config(config), config.per_device_batch_size, config.max_target_length)),
        writer_(checkpoints(), {.newest = config.max_num_checkpoints_to_keep, .every = config.keep_period}, [this](const std::string& folder) {
          result_.checkpoint = folder;
          progress_.line(fmt::format("saved {}", folder));
        }) {}

  Status start();
  Result<RunResult> go();

 private:
  std::string checkpoints() const { return run_folder(c_) + "/checkpoints"; }
  Status resume();
  Status one_step();
  Status evaluate();
  Status save();
  void report(double seconds);
  bool due(std::int64_t period) const { return period > 0 && (result_.step % period == 0 || result_.step == c_.steps); }

  const Config& c_;
  Progress& progress_;
  data::Dataset data_;
  std::optional<data::Prefetch> batches_;
  decltype(make_step({}, std::declval<optim::AdamW>())) step_function_;
  decltype(make_eval({})) eval_function_;
  double flops_;
  State state_;
  std::optional<Metrics> metrics_;
  Pace pace_;
  RunResult result_;
  std::int64_t saved_step_ = -1;  // the newest one, which may still be being written
  checkpoint::Writer writer_;
};

Status Run::resume() {
  if (!c_.enable_checkpointing) return {};
  auto latest = checkpoint::load_latest(checkpoints());
  if (!latest) return latest.status();
  for (const Status& damaged : latest->damaged) progress_.line(fmt::format("damaged checkpoint passed over: {}", damaged.message()));
  if (!latest->checkpoint) {
    if (latest->damaged.empty()) return {};
    return Status(Code::corrupt, "{}: no checkpoint is whole; remove the folder or choose another run_name to begin anew", checkpoints());
  }
  auto state = from_checkpoint(*latest->checkpoint, c_);
  if (!state) return state.status();
  if (std::string differs = check_data(*latest->checkpoint, data_); !differs.empty())
    progress_.line(fmt::format("note: the data is not what the checkpoint was trained on: {}", differs));
  state_ = std::move(*state);
  result_.step = saved_step_ = latest->checkpoint->step;
  result_.checkpoint = latest->folder;
  progress_.line(fmt::format("going on from {}", latest->folder));
  return {};
}

Status Run::start() {
  if (Status s = resume(); !s.ok()) return s;
  if (saved_step_ < 0) state_ = init_state(c_);
  if (Status s = write_file_atomic(run_folder(c_) + "/config.yml", to_yaml(c_)); !s.ok()) return s;
  // The run's own copy: what it learned can be read wherever its folder goes.
  if (const std::string& model = data_.tokenizer().model(); !model.empty())
    if (Status s = write_file_atomic(run_folder(c_) + "/tokenizer.model", model); !s.ok()) return s;
  auto metrics = Metrics::open(c_.metrics_file.empty() ? run_folder(c_) + "/metrics.jsonl" : c_.metrics_file, result_.step);
  if (!metrics) return metrics.status();
  metrics_ = std::move(*metrics);
  std::int64_t tokens = 0;
  for (const data::SourceInfo& s : data_.sources()) tokens += s.train_tokens;
  progress_.line(fmt::format("{} parameters, {} tokens of {} sources, {} steps of {} tokens, {}",
                             human_count(static_cast<double>(llama::count(model_config(c_)))), human_count(static_cast<double>(tokens)),
                             data_.sources().size(), c_.steps, c_.per_device_batch_size * c_.max_target_length, run_folder(c_)));
  return {};
}

void Run::report(double seconds) {
  const double tokens = static_cast<double>(c_.per_device_batch_size * c_.max_target_length), per_step = pace_.seconds_per_step();
  result_.tokens_per_second = per_step > 0 ? tokens / per_step : 0;
  if (progress_.live()) {
    progress_.show(fmt::format("step {}/{} | loss {:.4f} | {:.0f} tokens/s | {} left", result_.step, c_.steps, result_.loss,
                               result_.tokens_per_second,
                               per_step > 0 ? human_time(per_step * static_cast<double>(c_.steps - result_.step)) : "?"));
  }
  // On a terminal the state line says the same all the time; lines stay for a log.
  if (!progress_.live() && due(c_.log_period)) {
    progress_.line(fmt::format(
        "completed step: {}, seconds: {:.3f}, TFLOP/s/device: {:.3f}, Tokens/s/device: {:.3f}, total_weights: {}, loss: {:.3f}",
        result_.step, seconds, flops_ / seconds * 1e-12, tokens / seconds, c_.per_device_batch_size * c_.max_target_length, result_.loss));
  }
}

Status Run::one_step() {
  const double begin = seconds_now();
  data::Batch batch = (*batches_)();
  auto [loss, next] = step_function_(std::move(state_), Array(std::move(batch.tokens)), Array(std::move(batch.targets)));
  state_ = std::move(next);
  result_.loss = loss.template item<float>();
  if (!std::isfinite(result_.loss)) {
    result_.outcome = Outcome::diverged;
    return {};
  }
  ++result_.step;
  const double seconds = seconds_now() - begin;
  pace_.add(seconds);
  report(seconds);
  return metrics_->add_step(result_.step, result_.loss, static_cast<double>(c_.per_device_batch_size * c_.max_target_length) / seconds,
                            seconds);
}

Status Run::evaluate() {
  double total = 0;
  std::int64_t count = 0;
  for (std::size_t source = 0; source < data_.sources().size(); ++source) {
    for (std::int64_t i = 0; i < std::min(c_.eval_steps, data_.eval_batches(source)); ++i) {
      data::Batch batch = data_.eval_batch(source, i);
      if (batch.total_weights < c_.per_device_batch_size * c_.max_target_length && i > 0) break;  // the last one is not full
      total += eval_function_(state_.params, Array(std::move(batch.tokens)), Array(std::move(batch.targets))).template item<float>();
      ++count;
    }
  }
  const auto loss = static_cast<float>(total / static_cast<double>(count));
  progress_.line(fmt::format("eval after step: {}, loss: {:.4f}, bits per byte: {:.4f}", result_.step, loss, loss / std::log(2.0)));
  return metrics_->add_eval(result_.step, loss);
}

Status Run::save() {
  if (!c_.enable_checkpointing || saved_step_ == result_.step) return {};
  if (Status s = metrics_->sync(); !s.ok()) return s;
  checkpoint::Checkpoint snapshot = to_checkpoint(state_, result_.step, c_, data_);
  snapshot.notes["loss"] = fmt::format("{}", result_.loss);
  if (Status s = writer_.save(std::move(snapshot)); !s.ok()) return s;
  saved_step_ = result_.step;
  return c_.async_checkpointing ? Status() : writer_.wait();
}

Result<RunResult> Run::go() {
  Interrupt interrupt;
  const double begin = seconds_now();
  if (result_.step < c_.steps) progress_.show("compiling the first step");
  batches_.emplace([this](std::int64_t step) { return data_.batch(step); }, result_.step, c_.steps);
  while (result_.step < c_.steps) {
    if (Status s = one_step(); !s.ok()) return s;
    if (Status s = writer_.poll(); !s.ok()) return s;
    if (result_.outcome == Outcome::diverged) break;
    if (due(c_.eval_interval)) {
      if (Status s = evaluate(); !s.ok()) return s;
    }
    if (due(c_.checkpoint_period)) {
      if (Status s = save(); !s.ok()) return s;
    }
    if (result_.step == c_.steps) break;
    if (interrupt.asked())
      result_.outcome = Outcome::interrupted;
    else if (c_.max_seconds > 0 && seconds_now() - begin >= c_.max_seconds)
      result_.outcome = Outcome::time_over;
    if (result_.outcome != Outcome::done) break;
  }
  progress_.clear();
  if (result_.outcome != Outcome::diverged) {
    if (Status s = save(); !s.ok()) return s;
  }
  if (Status s = writer_.wait(); !s.ok()) return s;
  if (Status s = metrics_->sync(); !s.ok()) return s;
  return result_;
}

}  // namespace

Result<RunResult> run(const Config& config, Progress& progress) {
  auto data = open_data(config, &progress);
  progress.clear();
  if (!data) return data.status();
  for (std::size_t i = 0; config.eval_interval > 0 && i < data->sources().size(); ++i) {
    const data::SourceInfo& s = data->sources()[i];
    if (data->eval_batches(i) > 0) continue;
    return Status(Code::invalid, "eval_fraction={}: the text is too short: {} of the {} tokens of {} are kept for evaluation, 2 are needed",
                  config.eval_fraction, s.eval_tokens, s.tokens, s.name);
  }
  if (Status s = make_folders(run_folder(config)); !s.ok()) return s;
  auto lock = FileLock::take(run_folder(config) + "/lock");
  if (!lock) return lock.status();
  Run r(config, progress, std::move(*data));
  if (Status s = r.start(); !s.ok()) return s;
  return r.go();
}

}  // namespace strata::train
