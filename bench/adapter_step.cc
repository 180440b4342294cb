// A training step of adapters of low rank beside a published model: seconds a step and memory.
//
//   adapter-step MODEL [packed|dense|full] [SEQUENCES] [LENGTH] [RANK] [STEPS]
//
// packed: a GGUF file's blocks stay as they are (QLoRA); dense: f32 weights that stay; full: all
// weights are trained. Prints the losses, the fastest step, bytes of weights and the most memory
// that the process had.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/lora/lora.h"
#include "strata/model/pretrained.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

using namespace strata;

int main(int argc, char** argv) {
  const auto number = [&](int i, long usual) { return argc > i ? std::atol(argv[i]) : usual; };
  if (argc < 2) return std::fprintf(stderr, "adapter-step MODEL [packed|dense|full] ...\n"), 2;
  const std::string how = argc > 2 ? argv[2] : "packed";
  const long sequences = number(3, 4), length = number(4, 128), steps = number(6, 5);
  compile::register_cpu();
  auto base = model::load(argv[1], {.packed = how == "packed"});
  if (!base) return std::fprintf(stderr, "%s\n", base.status().message().c_str()), 1;
  model::ModelPtr m = base->model;
  tree::Tree params = base->params;
  std::optional<tree::Filter> frozen;
  if (how != "full") {
    m = model::lora::with_adapters(base->model,
                                   model::lora::LoraOptions{.rank = number(5, 16), .alpha = 32});
    params = model::lora::add_adapters(m, base->params, random::key(0));
    frozen = !model::lora::adapters();
  }
  base->params = {};
  std::size_t bytes = 0;
  for (const Array& w : params.values()) bytes += w.literal().bytes();
  const train::Optimizer optimizer{.rule = train::adamw(1e-4), .max_norm = 1, .frozen = frozen};
  train::State state{params, optimizer.rule.init(frozen ? params.filter(!*frozen) : params)};
  params = {};
  const Array tokens = random::randint(random::key(1), {sequences, length + 1}, 0, m->vocab_size());
  const train::Batch batch{tokens[{slice(), slice(0, length)}],
                           tokens[{slice(), slice(1, length + 1)}]};
  const train::Step step = train::make_step(m, optimizer);
  double best = 1e9;
  for (long i = 0; i < steps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto [outcome, next] = step(std::move(state), batch);
    state = std::move(next);
    const float loss = outcome.loss.item<float>();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (i > 0) best = std::min(best, seconds);
    std::printf("step %ld: loss %.5f, %.3f s\n", i, loss, seconds);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s: %ld x %ld tokens, %.3f s a step, weights %.1f MB, most memory %.1f MB\n",
              how.c_str(), sequences, length, best, static_cast<double>(bytes) / 1e6,
              static_cast<double>(usage.ru_maxrss) * 1.024 / 1e3);
}
