// What a run of `strata train` begins with and reads, for another framework to train on:
//
//   build/bin/run-inputs FILE.safetensors CONFIG.yml key=value ...
//
// Tensors: "params.PATH" the first weights; "tokens" and "targets" i32[steps, B, S]; "rates"
// f32[steps]; for each source "eval.NAME.tokens", ".targets" i32[batches, B, S], ".weights" f32 of
// the same shape. tools/learn_beside_jax.py trains on it in JAX.
#include <cstring>
#include <iostream>

#include "strata/base/error.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/state.h"

namespace {

using namespace strata;

/// Row-major batches behind each other.
Literal stacked(const std::vector<Literal>& parts) {
  std::vector<std::int64_t> sizes = parts.at(0).shape().sizes();
  sizes.insert(sizes.begin(), static_cast<std::int64_t>(parts.size()));
  Literal out(Type(parts[0].dtype(), Shape(std::vector<Dim>(sizes.begin(), sizes.end()))));
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::memcpy(out.mutable_data() + i * parts[i].bytes(), parts[i].data(), parts[i].bytes());
  return out;
}

int write(const std::string& path, const train::Config& config) {
  auto data = train::open_data(config);
  if (!data) throw Error("run-inputs", data.status().message());
  checkpoint::TensorFile file;
  const train::State first = train::init_state(config);
  tree::for_each_path(first.params, [&](const std::string& name, const Array& w) {
    file.tensors.emplace("params." + name, w.literal());
  });
  std::vector<Literal> tokens, targets, rates;
  for (std::int64_t step = 0; step < config.steps; ++step) {
    data::Batch b = data->batch(step);
    tokens.push_back(b.tokens);
    targets.push_back(b.targets);
    rates.push_back(train::make_schedule(config)(Array(step)).literal());
  }
  file.tensors.emplace("tokens", stacked(tokens));
  file.tensors.emplace("targets", stacked(targets));
  file.tensors.emplace("rates", stacked(rates));
  for (std::size_t s = 0; s < data->sources().size(); ++s) {
    std::vector<Literal> parts[3];
    for (std::int64_t i = 0; i < std::min(config.eval_steps, data->eval_batches(s)); ++i) {
      data::Batch b = data->eval_batch(s, i);
      parts[0].push_back(b.tokens);
      parts[1].push_back(b.targets);
      parts[2].push_back(*b.weights);
    }
    const std::string name = "eval." + data->sources()[s].name;
    file.tensors.emplace(name + ".tokens", stacked(parts[0]));
    file.tensors.emplace(name + ".targets", stacked(parts[1]));
    file.tensors.emplace(name + ".weights", stacked(parts[2]));
  }
  if (Status s = checkpoint::write_safetensors(path, file); !s.ok())
    throw Error("run-inputs", s.message());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  compile::register_cpu();
  try {
    if (argc < 3)
      throw Error("run-inputs", "usage: run-inputs FILE.safetensors CONFIG.yml key=value ...");
    return write(argv[1], train::read_config(argv[2], {argv + 3, argv + argc}));
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 2;
  }
}
