#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/conversation.h"
#include "strata/cli/engine_options.h"
#include "strata/cli/sampling_options.h"
#include "strata/engine/text.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, adapter, system, more = "{}", activations = "float";
  SamplingOptions sampling;
  EngineOptions engine;
  std::int64_t max_tokens = 1024, context = 4096;
  int threads = 0;
};

std::string as_json(const std::vector<Message>& messages) {
  ordered_json out = ordered_json::array();
  for (const Message& m : messages) out.push_back({{"role", m.role}, {"content", m.content}});
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

int run(const Options& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  auto lm = engine::load_language_model(
      o.model,
      {.int8_activations = o.activations == "int8", .length = o.context, .adapter = o.adapter});
  if (!lm) return fail(lm.status());
  for (const std::string& note : lm->notes) std::cerr << "note: " << note << "\n";
  if (auto probe = lm->chat(R"([{"role": "user", "content": "Hi"}])", o.more); !probe)
    return fail(probe.status());
  const engine::Sampling usual = o.sampling.over(lm->generation.sampling);
  // Pages that an answer leaves stay known, so that the next question reads what is new alone.
  engine::Options options = engine::options_for(*lm, o.context);
  if (Status s = o.engine.put_into(options, *lm); !s.ok()) return fail(s);
  engine::TextEngine engine(*lm, options);
  const std::int64_t room = engine.engine().options().max_length;
  std::uint64_t answers = 0;
  const Answerer answerer =
      [&](const std::vector<Message>& messages,
          const std::function<bool(std::string_view)>& piece) -> Result<Answer> {
    auto tokens = lm->chat(as_json(messages), o.more);
    if (!tokens) return tokens.status();
    const auto length = static_cast<std::int64_t>(tokens->size());
    if (length >= room)
      return Status(Code::invalid,
                    "the conversation has {} tokens, more than the {} that there is room for; "
                    "/undo or /reset, or --context for more",
                    length, room);
    engine::Sampling sampling = usual;
    sampling.seed += answers++;  // another answer to the same question
    engine::Id id = 0;
    bool ends = false;
    id = engine.submit({.tokens = std::move(*tokens),
                        .sampling = sampling,
                        .max_tokens = std::min(o.max_tokens, room - length),
                        .on_text = [&](std::string_view text) { ends = ends || !piece(text); }});
    while (!engine.engine().ended(id)) {
      if (ends) engine.cancel(id);
      if (!engine.step() && !engine.engine().ended(id)) break;
    }
    const engine::TextOutput out = engine.take(id);
    if (out.end == engine::End::error) return Status(Code::invalid, "{}", out.error);
    return Answer{.text = out.text,
                  .tokens = static_cast<std::int64_t>(out.tokens.size()),
                  .prompt_tokens = out.prompt_tokens - out.shared_tokens,
                  .prompt_seconds = out.prompt_seconds,
                  .seconds = out.seconds};
  };
  Conversation talk(answerer, {.system = o.system,
                               .prompts = ::isatty(STDIN_FILENO) != 0,
                               .statistics = ::isatty(STDERR_FILENO) != 0});
  if (Status s = talk.run(std::cin, std::cout, std::cerr); !s.ok()) return kWorkFailed;
  return kDone;
}

}  // namespace

void add_chat(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("chat", "a conversation with a model");
  command.description(
      "Talks with an instruction-tuned model: a line is a question, the answer appears as it is "
      "drawn. Ctrl-C ends an answer, Ctrl-D the\n"
      "conversation; /help lists commands. Without a terminal, each line of stdin is a "
      "question.\n\nExample:\n  strata chat --model SmolLM2-135M-Instruct.gguf --system 'Be "
      "brief.'\n  make chat      (fetches a small model first)\n");
  auto o = std::make_shared<Options>();
  command
      .add_option("--model", o->model,
                  "a GGUF file, a Hugging Face directory, or a cache's models--org--name")
      .required();
  add_adapter(command, o->adapter);
  command.add_option("--system", o->system, "how the model is to behave");
  command.add_option("--max_tokens", o->max_tokens, "tokens of an answer")
      .in_range(std::int64_t{1}, std::int64_t{1} << 20)
      .show_default();
  command
      .add_option("--context", o->context,
                  "tokens of a conversation, no more than the model was made for")
      .in_range(std::int64_t{16}, std::int64_t{1} << 20)
      .show_default();
  command
      .add_option("--template_kwargs", o->more,
                  "further names for the chat template, as JSON: {\"enable_thinking\": false}")
      .show_default();
  o->sampling.add_to(command);
  o->engine.add_to(command);
  add_activations(command, o->activations);
  add_threads(command, o->threads);
  add_device(command);
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
