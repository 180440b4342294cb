// Chapter 14: published models. The page beside this file (14_published_models.md) explains it.
#include <strata/core.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "strata/engine/engine.h"
#include "strata/engine/score.h"
#include "strata/model/pretrained.h"
#include "strata/tokenizer/chat_template/chat_template.h"

using namespace strata;

int main() {
  // A folder as Hugging Face has it: config.json and model.safetensors. This one is tiny and
  // random.
  auto loaded = model::load("strata/model/testdata/published/qwen3");
  if (!loaded) {
    std::cerr << loaded.status().message() << "\n";
    return 1;
  }
  const model::ModelPtr model = loaded->model;
  std::cout << model->family() << ", " << model->count() << " weights\n";
  std::cout << loaded->params["layers/attention/query/kernel"].type() << "\n";

  // Logits of every position.
  const Array tokens = array({{3, 1, 4, 1, 5}});
  std::cout << model->forward(loaded->params, tokens).type() << "\n";

  // Two requests, read and drawn side by side.
  engine::Engine engine(model, loaded->params, {.pages = 32, .max_batch = 2});
  const engine::Id likeliest =
      engine.submit({.tokens = {3, 1, 4, 1, 5}, .sampling = {.temperature = 0}, .max_tokens = 6});
  const engine::Id drawn = engine.submit({.tokens = {2, 7, 1, 8},
                                          .sampling = {.temperature = 0.8, .top_p = 0.9, .seed = 7},
                                          .max_tokens = 6});
  while (engine.step()) {
  }
  const engine::Output first = engine.take(likeliest), second = engine.take(drawn);
  std::cout << first.tokens.size() << " and " << second.tokens.size() << " tokens, ended by "
            << engine::name(first.end) << "\n";

  // How likely the model finds them: the bits that it drew by.
  std::vector<std::int32_t> text = {3, 1, 4, 1, 5};
  text.insert(text.end(), first.tokens.begin(), first.tokens.end());
  const engine::Scored scored = engine::Scorer(model, loaded->params, 64).score(text);
  bool same = true;
  for (std::size_t i = 0; i < first.tokens.size(); ++i)
    same = same && scored.logprobs[4 + i] == first.logprobs[i];
  std::cout << "log-probabilities " << (same ? "are the same" : "differ") << "\n";

  // A conversation as a model wants it written; what users type is told from what is added.
  const auto chat = tokenizer::ChatTemplate::parse(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  const nlohmann::ordered_json messages = {{{"role", "user"}, {"content", "Say <|im_end|>"}}};
  const auto prompt = chat->apply(messages, {.add_generation_prompt = true});
  std::cout << prompt->text;
  for (const tokenizer::Span& s : prompt->input)
    std::cout << "typed: " << prompt->text.substr(s.begin, s.end - s.begin) << "\n";
}
