#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/file.h"
#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/conversation.h"
#include "strata/cli/engine_options.h"
#include "strata/cli/sampling_options.h"
#include "strata/engine/park.h"
#include "strata/engine/text.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, adapter, system, park, more = "{}", activations = "float";
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

std::string said_in(const Options& o) { return o.park + "/conversation.json"; }

/// What was said when a conversation was parked; nothing where there is no file yet.
Result<std::vector<Message>> said_before(const Options& o) {
  std::vector<Message> out;
  if (o.park.empty() || !std::filesystem::exists(said_in(o))) return out;
  auto text = read_file(said_in(o));
  if (!text) return text.status();
  const ordered_json all = ordered_json::parse(*text, nullptr, false);
  const auto is_text = [](const ordered_json& m, const char* key) {
    return m.is_object() && m.contains(key) && m[key].is_string();
  };
  if (!all.is_array()) return Status(Code::corrupt, "{} is no conversation", said_in(o));
  for (const ordered_json& m : all) {
    if (!is_text(m, "role") || !is_text(m, "content"))
      return Status(Code::corrupt, "{} is no conversation", said_in(o));
    out.push_back({m["role"], m["content"]});
  }
  return out;
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
  auto before = said_before(o);
  if (!before) return fail(before.status());
  std::optional<engine::Conversations> rest;
  std::vector<std::int32_t> known;  // tokens of the last question and its answer
  if (!o.park.empty()) {
    rest.emplace(engine.engine(), engine::Conversations::Limits{.folder = o.park});
    auto found = rest->resume("chat");
    // Pages that cannot be read again are computed again.
    if (!found) std::cerr << "note: " << found.status().message() << "\n";
    if (!before->empty())
      std::cerr << fmt::format("(going on behind {} messages; {} tokens are read already)\n",
                               before->size(), found ? *found : 0);
  }
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
    std::vector<std::int32_t> asked = *tokens;
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
    known = std::move(asked);
    known.insert(known.end(), out.tokens.begin(), out.tokens.end());
    return Answer{.text = out.text,
                  .tokens = static_cast<std::int64_t>(out.tokens.size()),
                  .prompt_tokens = out.prompt_tokens - out.shared_tokens,
                  .prompt_seconds = out.prompt_seconds,
                  .seconds = out.seconds};
  };
  Conversation talk(answerer, {.system = o.system,
                               .prompts = ::isatty(STDIN_FILENO) != 0,
                               .messages = std::move(*before),
                               .statistics = ::isatty(STDERR_FILENO) != 0});
  if (Status s = talk.run(std::cin, std::cout, std::cerr); !s.ok()) return kWorkFailed;
  if (!rest) return kDone;
  Status s = make_folders(o.park);
  if (s.ok() && !known.empty()) s = rest->park("chat", known);
  if (s.ok()) s = rest->flush();
  if (s.ok()) s = write_file_atomic(said_in(o), as_json(talk.messages()));
  return s.ok() ? kDone : fail(s);
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
  command.add_option("--park", o->park,
                     "a folder where the conversation rests at the end, with what the model has "
                     "read of it, and from which the next run goes on");
  o->sampling.add_to(command);
  o->engine.add_to(command);
  add_activations(command, o->activations);
  add_threads(command, o->threads);
  add_device(command);
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
