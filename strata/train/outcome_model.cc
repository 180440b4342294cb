#include "strata/train/outcome_model.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "strata/api/transform/jit.h"
#include "strata/base/file.h"
#include "strata/engine/text.h"
#include "strata/model/lora/lora.h"
#include "strata/model/pretrained.h"

namespace strata::train {

using nlohmann::ordered_json;

std::string outcome_folder(const Config& c) { return run_folder(c) + "/model"; }

Status begin_outcome(const Config& c, const Base& base) {
  if (!base.published() || model::lora::has_adapters(*base.model)) return {};
  if (Status s = make_folders(outcome_folder(c)); !s.ok()) return s;
  for (const auto& [name, bytes] : base.files)
    if (Status s = write_file_atomic(outcome_folder(c) + "/" + name, bytes); !s.ok()) return s;
  return {};
}

Status write_outcome(const Config& c, const Base& base, const tree::Tree& params) {
  if (!base.published()) return {};
  return model::save_pretrained(outcome_folder(c), base.files.at("config.json"), params);
}

Result<std::string> answer_of(const Base& base, const tree::Tree& params,
                              const std::string& question, std::int64_t max_tokens) {
  engine::LanguageModel lm;
  lm.model = base.model;
  lm.params = jit([m = base.model](const tree::Tree& p) { return m->cast(p, m->dtype()); },
                  {.name = "cast"})(params);
  lm.tokenizer = base.tokenizer;
  lm.chat_template = base.chat_template;
  lm.generation = base.generation;
  lm.max_length = base.max_length;
  lm.name = "the model";
  std::vector<std::int32_t> tokens;
  if (lm.chat_template) {
    const ordered_json said = {{{"role", "user"}, {"content", question}}};
    auto asked = lm.chat(said.dump());
    if (!asked) return asked.status();
    tokens = std::move(*asked);
  } else {
    tokens = lm.prompt(question);
  }
  const std::int64_t room = lm.at_most(std::ssize(tokens) + max_tokens);
  if (room <= std::ssize(tokens))
    return Status(Code::invalid, "eval_prompt: {} tokens leave no room for an answer in {}",
                  tokens.size(), room);
  engine::TextEngine engine(lm, engine::options_for(lm, room));
  const engine::Id id = engine.submit({.tokens = std::move(tokens),
                                       .sampling = {.temperature = 0},
                                       .max_tokens = room - std::ssize(tokens)});
  const engine::TextOutput out = engine.run(id);
  if (out.end == engine::End::error) return Status(Code::invalid, "eval_prompt: {}", out.error);
  return out.text;
}

}  // namespace strata::train
