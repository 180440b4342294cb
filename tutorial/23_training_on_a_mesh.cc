// Chapter 23: trains one model on one device and on eight, and says beforehand what that takes.
// tutorial/23_training_on_a_mesh.md walks through it.
#include <strata/core.h>

#include <cmath>
#include <cstdio>

#include "strata/train/report/mesh_report.h"
#include "strata/train/state.h"
#include "strata/train/step/parallelism.h"

using namespace strata;

namespace {

train::Config config(std::vector<std::string> more) {
  std::vector<std::string> keys = {
      "base_emb_dim=32", "base_num_query_heads=4",    "base_num_kv_heads=2",  "head_dim=8",
      "base_mlp_dim=64", "base_num_decoder_layers=2", "max_target_length=16", "learning_rate=1e-2"};
  keys.insert(keys.end(), more.begin(), more.end());
  return train::read_config({}, keys, train::Data::optional);
}

// Five steps, each on the same eight sequences.
float loss_after_five_steps(const train::Config& c) {
  std::shared_ptr<const nn::LogicalMesh> mesh = train::mesh_of(c);
  train::Step step = train::make_step(train::make_model(c), train::make_optimizer(c));
  train::State state = train::init_state(c);
  Array tokens = random::randint(random::key(1), {8, 17}, 0, 256);
  train::Batch batch{tokens[{slice(), slice(0, 16)}], tokens[{slice(), slice(1, 17)}]};
  if (mesh) {
    step = train::on_mesh(std::move(step), mesh);
    state = train::put_on_mesh(std::move(state), *mesh);
    batch = train::put_on_mesh(batch, *mesh);
  }
  float loss = 0;
  for (int i = 0; i < 5; ++i) {
    auto [outcome, next] = step(std::move(state), batch);
    state = std::move(next);
    loss = outcome.loss.item<float>();
  }
  if (mesh)
    std::printf("a device holds %lld bytes of %lld that were predicted\n",
                static_cast<long long>(train::measured_bytes(state)),
                static_cast<long long>(train::predicted_bytes(state, *mesh)));
  return loss;
}

}  // namespace

int main() {
  cpu_devices(8);
  train::Config one = config({"per_device_batch_size=8"});
  train::Config eight = train::with_devices(
      config({"per_device_batch_size=1", "ici_fsdp_parallelism=-1", "ici_tensor_parallelism=2"}),
      8);

  // The step as a program, without running it: what its arguments are and how they lie.
  train::StepProgram program = train::step_program(eight, train::mesh_of(eight));
  for (const train::StepValue& a : program.arguments)
    if (a.name == "params.layers.gate" || a.name == "batch.tokens")
      std::printf("%s is %s\n", a.name.c_str(), a.sharding->spec().to_string().c_str());

  // What it takes of each device, and what it moves between them.
  train::MeshReport report = train::mesh_report(program);
  std::printf("%s on %lld devices: %lld bytes of state on each, %lld all-gathers\n",
              report.axes.c_str(), static_cast<long long>(report.devices),
              static_cast<long long>(report.state_bytes),
              static_cast<long long>(report.collectives["all_gather"].times));

  float alone = loss_after_five_steps(one), together = loss_after_five_steps(eight);
  bool same = std::abs(together / alone - 1) < 1e-5f;
  std::printf("the same loss: %s\n", same ? "yes" : "no");

  // Three devices do not make eight.
  try {
    (void)train::with_devices(config({"ici_fsdp_parallelism=3"}), 8);
  } catch (const train::ConfigError& e) {
    std::printf("%s\n", e.what());
  }
  return same ? 0 : 1;
}
