// Chapter 4: train a small language model. The page beside this file (04_train_a_small_model.md)
// explains it.
#include <strata/core.h>

#include <iostream>

#include "strata/data/dataset.h"
#include "strata/model/llama/family.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/schedule/schedules.h"
#include "strata/train/step/step.h"

using namespace strata;

// A text that a model of this size can learn by heart in a moment.
std::string song() {
  std::string text;
  for (int verse = 0; verse < 40; ++verse) {
    text += "one for sorrow, two for joy,\nthree for a girl, four for a boy,\n";
    text += "five for silver, six for gold,\nseven for a secret never told.\n\n";
  }
  return text;
}

// The likeliest next byte, again and again.
std::string continue_text(const tree::Tree& params, const model::ModelPtr& model, std::string text,
                          std::size_t length) {
  auto next = jit([model](const tree::Tree& p, const Array& tokens, const Array& last) {
    return argmax(model->forward(p, tokens)[{0, last}], -1);
  });
  while (text.size() < length) {
    std::vector<std::int32_t> tokens(
        length);  // padded behind: a model that looks back only does not see it
    for (std::size_t i = 0; i < text.size(); ++i) tokens[i] = static_cast<unsigned char>(text[i]);
    Array byte = next(params, array(tokens, Sizes{1, static_cast<std::int64_t>(length)}),
                      static_cast<int>(text.size()) - 1);
    text += static_cast<char>(byte.item<int>());
  }
  return text;
}

int main() {
  model::ModelPtr model = llama::model({.vocab_size = 256,
                                        .base_emb_dim = 32,
                                        .base_num_decoder_layers = 2,
                                        .base_num_query_heads = 4,
                                        .base_num_kv_heads = 2,
                                        .head_dim = 8,
                                        .base_mlp_dim = 64});
  std::cout << model->count() << " weights\n";

  const std::string text = song();
  auto batches =
      data::Dataset::of_documents({text}, {.eval_fraction = 0, .batch = 8, .length = 64});
  if (!batches) {
    std::cerr << batches.status().message() << "\n";
    return 1;
  }

  const train::Optimizer optimizer{
      .rule = optim::adamw(optim::warmup_cosine_decay_schedule(0.0, 1e-2, 10, 120, 1e-3),
                           {.b2 = 0.95, .weight_decay = 0.1})};
  train::State state = train::init(random::key(0), model, optimizer);
  auto step = train::make_step(model, optimizer);

  for (int i = 0; i < 120; ++i) {
    data::Batch batch = batches->batch(i);
    auto [outcome, next] = step(std::move(state), {Array(batch.tokens), Array(batch.targets)});
    state = std::move(next);
    if (i % 40 == 0 || i == 119)
      std::cout << "step " << i << " loss " << round(outcome.loss * 100) / 100 << "\n";
  }

  std::cout << continue_text(state.params, model, "one for", 62) << "\n";
}
