// Two devices of one core each beside one of two threads: a training step of a small Llama over a
// mesh of two (batch cut, weights and moments too: fsdp), and the same step on one device.
//
//   build/bin/two-devices [PAIRS] [STEPS]            # 5 pairs of processes, 5 steps in each
//
// The kinds alternate, each in a process of its own. Prints medians of seconds for a step and
// their ratio, above 1 where the mesh is faster; docs/meshes.md has the figures.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"
#include "strata/train/step/parallelism.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/state_sharding.h"
#include "strata/train/step/step.h"

using namespace strata;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of each step.
std::vector<double> steps_on(int devices, int steps) {
  compile::register_cpu();
  cpu_devices(devices);
  const llama::Config c{.vocab_size = 8192,
                        .base_emb_dim = 256,
                        .base_num_decoder_layers = 6,
                        .base_num_query_heads = 8,
                        .base_num_kv_heads = 4,
                        .head_dim = 32,
                        .base_mlp_dim = 768};
  constexpr std::int64_t batch = 8, length = 256;
  const model::ModelPtr model = llama::model(c);
  const train::Optimizer optimizer{.rule = train::adamw(1e-3), .in_f32 = false};
  train::State state = train::init(random::key(0), model, optimizer);
  const Array tokens =
      random::randint(random::key(1), {batch, length + 1}, 0, static_cast<int>(c.vocab_size));
  train::Batch inputs{tokens[{slice(), slice(0, length)}], tokens[{slice(), slice(1, length + 1)}]};
  train::Step step = train::make_step(model, optimizer);
  if (devices > 1) {
    train::Config config;
    config.ici_fsdp_parallelism = devices;
    const auto mesh = train::mesh_of(config);
    step = train::on_mesh(std::move(step), mesh);
    state = train::put_on_mesh(std::move(state), *mesh);
    inputs = train::put_on_mesh(inputs, *mesh);
  }
  std::vector<double> seconds;
  for (int i = 0; i < steps + 2; ++i) {
    const double start = now();
    auto [outcome, next] = step(std::move(state), inputs);
    state = std::move(next);
    (void)outcome.loss.item<float>();
    if (i > 1) seconds.push_back(now() - start);
  }
  return seconds;
}

/// In a process of its own.
std::vector<double> apart(int devices, int steps) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<double> seconds = steps_on(devices, steps);
    const std::size_t bytes = seconds.size() * sizeof(double);
    _exit(write(ends[1], seconds.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> out;
  for (double x = 0; read(ends[0], &x, sizeof x) == sizeof x;) out.push_back(x);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return out;
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x.empty() ? 0 : x[x.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 5, steps = argc > 2 ? std::atoi(argv[2]) : 5;
  std::vector<double> one, two, ratios;
  for (int i = 0; i < pairs; ++i) {
    const std::vector<double> a = apart(1, steps), b = apart(2, steps);
    one.insert(one.end(), a.begin(), a.end());
    two.insert(two.end(), b.begin(), b.end());
    ratios.push_back(median(a) / median(b));
  }
  fmt::print(
      "one device of two threads {:.3f} s, two devices of one core {:.3f} s a step, ratio {:.2f} "
      "(of pairs {:.2f} to {:.2f})\n",
      median(one), median(two), median(one) / median(two),
      *std::min_element(ratios.begin(), ratios.end()),
      *std::max_element(ratios.begin(), ratios.end()));
}
