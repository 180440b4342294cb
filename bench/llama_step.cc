// How fast is a training step of a small Llama (8.9 M parameters, batch 8 x 256)?
//
//   build/bin/llama-step [f32|bf16] [--steps N] [--json]
//
// bench/llama_step.py runs this beside JAX, alternating, and prints the ratio.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>

#include "strata/api/lax.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/compile/llvm/compile_plan.h"
#include "strata/model/llama/family.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

int main(int argc, char** argv) {
  using namespace strata;
  llama::Config c{.vocab_size = 8192,
                  .base_emb_dim = 256,
                  .base_num_decoder_layers = 6,
                  .base_num_query_heads = 8,
                  .base_num_kv_heads = 4,
                  .head_dim = 32,
                  .base_mlp_dim = 768};
  int steps = 7;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "bf16")) c.dtype = DType::bf16;
    if (!std::strcmp(argv[i], "--json")) json = true;
    if (!std::strcmp(argv[i], "--steps") && i + 1 < argc) steps = std::atoi(argv[++i]);
  }
  constexpr std::int64_t batch = 8, length = 256;
  compile::register_cpu();
  const model::ModelPtr model = llama::model(c);
  const train::Optimizer optimizer{.rule = train::adamw(1e-3), .in_f32 = false};
  train::State state =
      jit([&](const Array& key) { return train::init(key, model, optimizer); })(random::key(0));
  Array tokens =
      random::randint(random::key(1), {batch, length + 1}, 0, static_cast<int>(c.vocab_size));
  Array x = lax::slice(tokens, {0, 0}, {batch, length}),
        y = lax::slice(tokens, {0, 1}, {batch, length + 1});
  auto step = train::make_step(model, optimizer);
  double t = now();
  auto [outcome, next] = step(std::move(state), {x, y});
  state = std::move(next);
  Array loss = outcome.loss;
  double first = now() - t;
  std::vector<double> seconds;
  for (int i = 0; i < steps; ++i) {
    t = now();
    auto [o, s] = step(std::move(state), {x, y});
    state = std::move(s);
    loss = o.loss;
    seconds.push_back(now() - t);
  }
  std::sort(seconds.begin(), seconds.end());
  double median = seconds[seconds.size() / 2];
  if (json)
    std::cout << "{\"median_s\":" << median << ",\"min_s\":" << seconds[0]
              << ",\"first_s\":" << first << ",\"loss\":" << loss.item<double>() << "}\n";
  else
    std::cout << "first call " << first << " s, median step " << median << " s, "
              << batch * length / median << " tokens/s, "
              << llama::flops_per_step(c, batch, length) / median * 1e-9 << " GFLOP/s, loss "
              << loss.item<double>() << "\n";
}
