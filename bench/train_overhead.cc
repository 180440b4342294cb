// What does a training run cost beside its bare step?
//
//   build/bin/train-overhead [FILE.yml] key=value ... [--rounds N] [--steps N] [--json]
//
// One side calls the compiled step on batches that are ready. The other is train::run, all of
// `strata train`: batches from text, metrics of each step, one checkpoint in the middle of a round.
// They take turns of `--steps` steps. A step's time is from its end to the next one's, in a run by
// the wall times of its metrics, so that nothing between steps is left out; the first two of a
// turn, which compile, do not count.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "strata/api/transform/jit.h"
#include "strata/base/command_line.h"
#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/report/events.h"
#include "strata/train/run.h"
#include "strata/train/state.h"

namespace {

using namespace strata;
using train::Config;

constexpr int kWarm = 2;

struct Options {
  std::vector<std::string> config;
  int rounds = 6, steps = 8;
  bool json = false;
};

/// The step on a few batches that were made before.
class Bare {
 public:
  explicit Bare(const Config& c, const data::Dataset& data)
      : step_(train::make_step(train::make_model(c), train::make_optimizer(c))),
        state_(train::init_state(c)) {
    for (int i = 0; i < 4; ++i) batches_.push_back(train::to_batch(data.batch(i)));
  }
  /// Of one call that takes and gives the step's trees with next to nothing in their arrays, the
  /// fastest of some.
  double call_seconds() {
    auto call = jit([](train::State s,
                       train::Batch b) { return std::pair(std::move(b.targets), std::move(s)); },
                    {.donate_argnums = {0}});
    train::State state =
        tree::map([](const Array& leaf) { return zeros({1}, leaf.dtype()); }, state_);
    train::Batch batch{zeros({1}), zeros({1})};
    double best = 1;
    for (int i = 0; i < 200; ++i) {
      const double begin = seconds_now();
      auto [target, next] = call(std::move(state), batch);
      best = std::min(best, seconds_now() - begin);
      state = std::move(next);
    }
    return best;
  }
  void turn(int steps, std::vector<double>& seconds) {
    double before = 0;
    for (int i = 0; i < steps; ++i) {
      auto [outcome, next] =
          step_(std::move(state_), batches_[static_cast<std::size_t>(i) % batches_.size()]);
      state_ = std::move(next);
      const double now = seconds_now();
      if (i >= kWarm) seconds.push_back(now - before);
      before = now;
    }
  }

 private:
  train::Step step_;
  train::State state_;
  std::vector<train::Batch> batches_;
};

[[noreturn]] void stop(const Status& s) {
  std::fprintf(stderr, "train-overhead: %s\n", s.message().c_str());
  std::exit(1);
}

/// The wall times of the run's metrics, by step.
std::vector<double> wall_times(const Config& c) {
  const std::string path = train::run_folder(c) + "/tensorboard/events.out.tfevents.0.strata";
  auto bytes = read_file(path);
  if (!bytes) stop(bytes.status());
  std::vector<double> out;
  for (const train::Event& e : train::read_events(*bytes, path).events) {
    if (e.step > 0) out.push_back(e.wall_time);
  }
  return out;
}

/// Goes on with the run for `steps` steps.
void turn_of_run(Config& c, int steps, std::vector<double>& seconds) {
  const int descriptor = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Progress quiet(descriptor);
  c.steps += steps;
  auto result = train::run(c, quiet);
  ::close(descriptor);
  if (!result) stop(result.status());
  const std::vector<double> times = wall_times(c);
  for (std::size_t i = times.size() - static_cast<std::size_t>(steps - kWarm); i < times.size();
       ++i)
    seconds.push_back(times[i] - times[i - 1]);
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}
double mean(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

void print(const Options& o, const Config& c, const std::vector<double>& bare,
           const std::vector<double>& run, double call) {
  if (o.json) {
    std::printf(
        "{\"bare_s\":%.6f,\"run_s\":%.6f,\"bare_mean_s\":%.6f,\"run_mean_s\":%.6f,\"call_s\":%.9f,"
        "\"tokens\":%lld}\n",
        median(bare), median(run), mean(bare), mean(run), call,
        static_cast<long long>(train::sequences(c) * c.max_target_length));
    return;
  }
  std::printf("median step: bare %.1f ms, in a run %.1f ms: %+.1f %%\n", 1e3 * median(bare),
              1e3 * median(run), 100 * (median(run) / median(bare) - 1));
  std::printf("mean step:   bare %.1f ms, in a run %.1f ms: %+.1f %%\n", 1e3 * mean(bare),
              1e3 * mean(run), 100 * (mean(run) / mean(bare) - 1));
  std::printf("a call with the step's trees and next to nothing in them: %.1f us\n", 1e6 * call);
}

void race(const Options& o) {
  Config c = o.config.empty() || o.config[0].find('=') != std::string::npos
                 ? train::read_config(std::nullopt, o.config)
                 : train::read_config(o.config[0], {o.config.begin() + 1, o.config.end()});
  auto folder =
      std::filesystem::temp_directory_path() / fmt::format("train-overhead.{}", ::getpid());
  c.base_output_directory = folder;
  // The same program in each turn, whatever its last step.
  c.learning_rate_schedule_steps = 100000;
  c.steps = 0;
  c.eval_interval = 0;
  c.max_seconds = 0;
  c.checkpoint_period = o.steps / 2;
  auto data = train::open_data(c);
  if (!data) stop(data.status());
  std::vector<double> bare, run;
  Bare b(c, *data);
  for (int i = 0; i < o.rounds; ++i) {
    b.turn(o.steps, bare);
    turn_of_run(c, o.steps, run);
  }
  std::filesystem::remove_all(folder);
  print(o, c, bare, run, b.call_seconds());
}

}  // namespace

int main(int argc, char** argv) {
  strata::compile::register_cpu();
  Options o;
  strata::CommandLine line(
      "What a training run costs beside its bare step.\n\nExample:\n  train-overhead "
      "configs/demo.yml --rounds 6");
  line.add_option("arguments", o.config, "a YAML file of keys, then key=value")
      .type_name("[FILE.yml] key=value ...");
  line.add_option("--rounds", o.rounds, "turns of each side").in_range(1, 1000).show_default();
  line.add_option("--steps", o.steps, "steps of a turn").in_range(kWarm + 2, 100000).show_default();
  line.add_flag("--json", o.json, "one JSON object");
  if (auto status = line.parse(argc, argv)) return *status;
  try {
    race(o);
  } catch (const strata::Error& e) {
    std::fprintf(stderr, "train-overhead: %s\n", e.what());
    return 2;
  }
}
