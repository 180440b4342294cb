#include "strata/train/generate.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"

namespace strata::cli {
namespace {

struct Options {
  std::string checkpoint, prompt;
  train::GenerateOptions generate;
  bool json = false;
  int threads = 0;
};

int run(const Options& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  auto generator = train::Generator::load(o.checkpoint);
  if (!generator) return fail(generator.status());
  std::string text;
  if (!o.json) std::cout << o.prompt << std::flush;
  generator->generate(o.prompt, o.generate, [&](std::string_view piece) {
    text += piece;
    if (!o.json) std::cout << piece << std::flush;
  });
  // Bytes that are drawn one by one need not be UTF-8.
  const nlohmann::ordered_json out = {{"prompt", o.prompt}, {"text", text}, {"step", generator->step()}};
  std::cout << (o.json ? out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) : "") << "\n";
  return kDone;
}

}  // namespace

void add_generate(CLI::App& app, std::function<int()>& action) {
  CLI::App* command = app.add_subcommand("generate", "writes text with a trained model");
  command->description(
      "Continues a prompt with a trained model; the text appears as it is drawn.\n\n"
      "Example:\n  strata generate --checkpoint build/demo/demo_kjv --prompt 'And God said' --max_tokens 300 --temperature 0.7 --seed 1\n");
  auto o = std::make_shared<Options>();
  command->add_option("--checkpoint", o->checkpoint, "a checkpoint's folder, or a run's, whose newest one is taken")->required();
  command->add_option("--prompt", o->prompt, "text to go on from");
  command->add_option("--max_tokens", o->generate.max_tokens, "tokens to draw")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->capture_default_str();
  command->add_option("--temperature", o->generate.temperature, "0: the likeliest token each time; 1: the model's own distribution")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--seed", o->generate.seed, "the same seed gives the same text")->capture_default_str();
  command->add_option("--threads", o->threads, "threads (default: all cores); results do not depend on it")->check(CLI::Range(1, 4096));
  command->add_flag("--json", o->json, "print one JSON object instead");
  command->callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
