// Chapter 16: adapters of low rank. The page beside this file (16_adapters.md) explains it.
#include <strata/core.h>

#include <filesystem>
#include <iostream>

#include "strata/model/lora/peft.h"
#include "strata/model/pretrained.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

using namespace strata;

int main() {
  auto base = model::load("strata/model/testdata/published/llama");
  if (!base) {
    std::cerr << base.status().message() << "\n";
    return 1;
  }

  // The model with an adapter beside some of its weights, whose B is zero.
  const model::ModelPtr tuned = model::lora::with_adapters(
      base->model,
      {.rank = 4, .alpha = 8, .target_modules = {"q_proj", "v_proj", "mlp.down_proj"}});
  const tree::Tree params = model::lora::add_adapters(tuned, base->params, random::key(0));
  for (const std::string& name : params.filter(model::lora::adapters()).names())
    std::cout << name << " " << params[name].type() << "\n";

  // Nothing has changed yet, not a bit.
  const Array tokens = random::randint(random::key(1), {4, 17}, 0, 48);
  const Array before = base->model->forward(base->params, tokens);
  std::cout << "equal: " << all(equal(tuned->forward(params, tokens), before)) << "\n";

  // What is frozen has no gradient and no state of the optimizer.
  const train::Optimizer optimizer{
      .rule = train::adamw(3e-2), .max_norm = 1, .frozen = !model::lora::adapters()};
  train::State state{params, optimizer.rule.init(params.filter(model::lora::adapters()))};
  const train::Step step = train::make_step(tuned, optimizer);
  const train::Batch batch{tokens[{slice(), slice(0, 16)}], tokens[{slice(), slice(1, 17)}]};
  float first = 0, last = 0;
  for (int i = 0; i < 100; ++i) {
    auto [outcome, next] = step(std::move(state), batch);
    state = std::move(next);
    last = outcome.loss.item<float>();
    if (i == 0) first = last;
  }
  std::cout << "lower: " << (last < 0.7f * first) << "\n";

  // The adapter alone, as PEFT has it; and beside the base again.
  const std::string folder = std::filesystem::temp_directory_path() / "strata_chapter_16";
  if (Status s = model::lora::save_peft(folder, {tuned, state.params}); !s.ok()) {
    std::cerr << s.message() << "\n";
    return 1;
  }
  const auto again = model::load("strata/model/testdata/published/llama", {.adapter = folder});
  std::cout << "read again: " << tree::equal(again->params, state.params) << "\n";

  // Or one with the weights: W + alpha / rank A B.
  const model::lora::Adapted merged = model::lora::merged(tuned, state.params);
  const Array far =
      max(abs(merged.model->forward(merged.params, tokens) - tuned->forward(state.params, tokens)));
  std::cout << "merged within 1e-3: " << less(far, 1e-3f) << "\n";
  std::filesystem::remove_all(folder);
  return 0;
}
