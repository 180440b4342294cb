#include "strata/train/evaluate/evaluate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/evaluate_text.h"
#include "strata/train/evaluate/domains.h"
#include "strata/train/state.h"

namespace strata::cli {
namespace {

struct Options {
  std::string checkpoint;
  EvaluateText published;
  train::DomainOptions domains{.samples = 0, .generate = {.max_tokens = 48}};
  std::int64_t eval_steps = 0, show = 0;
  bool json = false;
  int threads = 0;
};

std::size_t at_home(const std::vector<train::DomainSample>& samples) {
  return static_cast<std::size_t>(std::count_if(
      samples.begin(), samples.end(), [](const auto& s) { return s.source == s.judged; }));
}

void print_json(const train::Generator& g, const std::vector<train::SourceLoss>& losses,
                const data::Dataset& data, const std::vector<train::DomainSample>& samples) {
  nlohmann::ordered_json out = {{"step", g.step()}, {"sources", nlohmann::ordered_json::array()}};
  for (const train::SourceLoss& s : losses) {
    out["sources"].push_back({{"source", s.source},
                              {"tokens", s.tokens},
                              {"loss", s.loss()},
                              {"loss_per_byte", s.loss_per_byte()},
                              {"unigram_loss", s.unigram_loss()},
                              {"below_unigram", s.below_unigram()}});
  }
  if (!samples.empty()) {
    out["samples"] = nlohmann::ordered_json::array();
    for (const train::DomainSample& s : samples) {
      out["samples"].push_back({{"source", data.sources()[s.source].name},
                                {"judged", data.sources()[s.judged].name},
                                {"prompt", s.prompt},
                                {"text", s.text}});
    }
    out["at_home"] = at_home(samples);
  }
  std::cout << out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

void print(const std::vector<train::SourceLoss>& losses, const data::Dataset& data,
           const std::vector<train::DomainSample>& samples, std::int64_t show) {
  std::cout << train::to_table(losses) << "\n";
  std::int64_t shown = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const train::DomainSample& s = samples[i];
    shown = i > 0 && samples[i - 1].source == s.source ? shown + 1 : 1;
    if (shown <= show)
      std::cout << fmt::format("\n-- {}: {}\u2502{}\n", data.sources()[s.source].name, s.prompt,
                               s.text);
  }
  if (!samples.empty())
    std::cout << fmt::format(
        "\n{} of {} samples are given to the source of their prompt by a bigram model for each "
        "source\n",
        at_home(samples), samples.size());
}

int run(const Options& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  if (o.checkpoint.empty() == o.published.model.empty())
    return fail(Status(Code::invalid, "evaluate what? --checkpoint FOLDER, or --model MODEL"));
  if (o.published.model.empty() && !o.published.adapter.empty())
    return fail(Status(Code::invalid, "--adapter is for --model"));
  if (!o.published.model.empty()) {
    EvaluateText published = o.published;
    published.json = o.json;
    return evaluate_text(published);
  }
  Progress progress(STDERR_FILENO);
  auto generator = train::Generator::load(o.checkpoint);
  if (!generator) return fail(generator.status());
  note_damaged(generator->damaged());
  train::Config config = generator->config();
  if (o.eval_steps != 0) config.eval_steps = o.eval_steps;
  config.z_loss_multiplier = 0;  // nats of the targets, whatever training minimised
  auto base = train::open_base(config);
  if (!base) return fail(base.status());
  auto data = train::open_data(config, *base, &progress);
  if (!data) return fail(data.status());
  auto held_out = train::open_eval_data(config, *base, *data, &progress);
  if (!held_out) return fail(held_out.status());
  // On a terminal the state line, elsewhere a line of its own.
  auto say = [&](const char* text) { progress.live() ? progress.show(text) : progress.line(text); };
  say("evaluating");
  const auto losses = train::Evaluator(config, base->model, *data, *held_out)(generator->params());
  if (losses.empty())
    return fail(Status(Code::invalid, "eval_fraction={}: nothing was kept for evaluation",
                       config.eval_fraction));
  std::vector<train::DomainSample> samples;
  if (o.domains.samples > 0) {
    train::DomainOptions domains = o.domains;
    say("writing samples");
    domains.progress = [&](std::int64_t number, std::int64_t of) {
      progress.show(fmt::format("writing sample {} of {}", number + 1, of));
    };
    samples = train::write_samples(*generator, *held_out, domains);
  }
  progress.clear();
  if (o.json)
    print_json(*generator, losses, *held_out, samples);
  else
    print(losses, *held_out, samples, o.show);
  return kDone;
}

}  // namespace

void add_evaluate(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("evaluate", "says how well a model predicts and writes, source by source");
  command.description(
      "Says how well a model predicts the text that was kept from it, source by source, beside a "
      "unigram model; and whether what\n"
      "it writes belongs to the source of its prompt. Of a published model: the perplexity of a "
      "text, or answers to an evaluation harness\n"
      "(python/strata_lm_eval).\n\nExample:\n  strata evaluate --checkpoint "
      "build/demo/demo --samples 10 --show 1\n  strata evaluate --model SmolLM2.gguf --perplexity "
      "book.txt\n");
  auto o = std::make_shared<Options>();
  command.add_option("--checkpoint", o->checkpoint,
                     "a checkpoint's folder, or a run's, whose newest one is taken");
  EvaluateText& p = o->published;
  command.add_option("--model", p.model,
                     "a GGUF file, a Hugging Face directory, or a cache's models--org--name");
  add_adapter(command, p.adapter);
  command.add_option("--perplexity", p.perplexity, "a text: its perplexity under the model");
  command
      .add_option("--context", p.context,
                  "tokens that the model sees, no more than it was made for")
      .in_range(std::int64_t{2}, std::int64_t{1} << 20)
      .show_default();
  command
      .add_option("--stride", p.stride,
                  "how far apart windows begin (default: half of the context)")
      .in_range(std::int64_t{1}, std::int64_t{1} << 20);
  command.add_flag("--requests", p.requests,
                   "answer lines of JSON from stdin: loglikelihood, loglikelihood_rolling, "
                   "generate");
  command
      .add_option("--eval_steps", o->eval_steps,
                  "most batches of each source; -1 for all (default: the run's)")
      .in_range(-1, 1 << 30);
  command.add_option("--samples", o->domains.samples, "samples to write for each source")
      .in_range(0, 10000)
      .show_default();
  command.add_option("--show", o->show, "samples to print for each source")
      .in_range(0, 10000)
      .show_default();
  command.add_option("--max_tokens", o->domains.generate.max_tokens, "tokens of a sample")
      .in_range(1, 1 << 20)
      .show_default();
  command.add_option("--temperature", o->domains.generate.temperature, "of the samples")
      .in_range(0.0, 100.0)
      .show_default();
  command.add_option("--seed", o->domains.generate.seed, "of the samples").show_default();
  add_activations(command, o->published.activations);
  add_threads(command, o->threads);
  add_device(command);
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
