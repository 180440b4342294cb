#include "strata/train/evaluate/generate.h"

#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/generate_text.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;
using train::Generated;

struct Options {
  std::string checkpoint;
  /// Of a published model; how tokens are drawn holds for both.
  GenerateText published;
  std::vector<std::string> prompts;
  train::GenerateOptions generate;
  bool json = false, stats = false;
  int threads = 0;
};

/// Thrown where the text goes to nobody any more; whoever ends the command says why.
struct OutputLost {};

/// Prints texts in their order: the first as it is drawn, a later one from when those before it are
/// complete. Throws OutputLost.
class Printer {
 public:
  Printer(std::ostream& out, const Options& o) : out_(out), o_(o) { begin(0, 0); }

  void add(std::size_t prompt, std::int64_t sample, std::string_view text) {
    if (prompt == 0 && sample == 0) out_ << text << std::flush;
    if (!out_) throw OutputLost();
  }
  void finish(const std::vector<Generated>& all) {
    for (std::size_t p = 0; p < all.size(); ++p)
      for (std::size_t i = 0; i < all[p].samples.size(); ++i) {
        if (p == 0 && i == 0) continue;
        out_ << "\n";
        begin(p, i);
        out_ << all[p].samples[i].text;
      }
    out_ << "\n";
  }

 private:
  void begin(std::size_t prompt, std::size_t sample) {
    std::vector<std::string> which;
    if (o_.prompts.size() > 1)
      which.push_back(fmt::format("prompt {} of {}", prompt + 1, o_.prompts.size()));
    if (o_.generate.num_samples > 1)
      which.push_back(fmt::format("sample {} of {}, seed {}", sample + 1, o_.generate.num_samples,
                                  o_.generate.seed + sample));
    if (!which.empty()) out_ << fmt::format("--- {}\n", fmt::join(which, ", "));
    out_ << o_.prompts[prompt] << std::flush;
  }
  std::ostream& out_;
  const Options& o_;
};

ordered_json to_json(const Options& o, const std::string& prompt, const Generated& all,
                     std::int64_t step) {
  ordered_json samples = ordered_json::array();
  for (std::size_t i = 0; i < all.samples.size(); ++i) {
    const train::Sample& s = all.samples[i];
    samples.push_back({{"text", s.text},
                       {"tokens", s.tokens},
                       {"end", train::name(s.end)},
                       {"seed", o.generate.seed + i}});
  }
  return {{"prompt", prompt},
          {"prompt_tokens", all.prompt_tokens},
          {"samples", samples},
          {"step", step}};
}

/// What was given of how tokens are drawn, for a checkpoint.
Status take_sampling(Options& o) {
  const GenerateText& p = o.published;
  if (p.sampling.repetition_penalty || p.sampling.frequency_penalty || p.sampling.presence_penalty)
    return Status(Code::invalid, "penalties are for --model");
  if (p.engine.speculate != "none" || p.engine.kv_cache_dtype != "auto")
    return Status(Code::invalid, "--speculate and --kv_cache_dtype are for --model");
  train::GenerateOptions& g = o.generate;
  g.seed = p.sampling.seed;
  g.max_tokens = p.max_tokens.value_or(g.max_tokens);
  g.temperature = p.sampling.temperature.value_or(g.temperature);
  g.top_k = p.sampling.top_k.value_or(g.top_k);
  g.top_p = p.sampling.top_p.value_or(g.top_p);
  g.min_p = p.sampling.min_p.value_or(g.min_p);
  return Status();
}

int run(Options o) {
  if (o.threads > 0) set_num_threads(o.threads);
  if (o.checkpoint.empty() == o.published.model.empty())
    return fail(Status(Code::invalid, "generate by what? --checkpoint FOLDER, or --model MODEL"));
  if (o.published.model.empty() && !o.published.adapter.empty())
    return fail(Status(Code::invalid, "--adapter is for --model"));
  if (GenerateText p = o.published; !p.model.empty()) {
    p.prompts = o.prompts, p.num_samples = o.generate.num_samples, p.stop = o.generate.stop;
    p.ignore_eos = o.generate.ignore_eos, p.json = o.json, p.stats = o.stats;
    return generate_text(p);
  }
  if (Status s = take_sampling(o); !s.ok()) return fail(s);
  if (o.prompts.empty()) o.prompts.emplace_back();
  for (std::string& prompt : o.prompts)
    if (prompt == "-") prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
  auto generator = train::Generator::load(o.checkpoint);
  if (!generator) return fail(generator.status());
  note_damaged(generator->damaged());
  std::vector<Generated> all;
  if (o.json) {
    all = generator->generate(o.prompts, o.generate,
                              [](std::size_t, std::int64_t, std::string_view) {});
    // A prompt need not be UTF-8.
    for (std::size_t p = 0; p < all.size(); ++p)
      std::cout << to_json(o, o.prompts[p], all[p], generator->step())
                       .dump(-1, ' ', false, ordered_json::error_handler_t::replace)
                << "\n";
  } else {
    Printer printer(std::cout, o);
    try {
      all = generator->generate(o.prompts, o.generate,
                                [&](std::size_t prompt, std::int64_t sample,
                                    std::string_view text) { printer.add(prompt, sample, text); });
    } catch (const OutputLost&) {
      return kWorkFailed;
    }
    printer.finish(all);
  }
  if (o.stats) {
    // Times are of all prompts together.
    std::int64_t prompt_tokens = 0;
    double per_second = 0;
    for (const Generated& g : all) {
      prompt_tokens += g.prompt_tokens;
      per_second += g.tokens_per_second();
    }
    std::cerr << fmt::format(
        "{} tokens of prompt in {:.3f} s, {:.1f} tokens/s drawn in {:.3f} s, compiled in {:.2f} "
        "s\n",
        prompt_tokens, all[0].prompt_seconds, per_second, all[0].decode_seconds,
        all[0].compile_seconds);
  }
  return kDone;
}

}  // namespace

void add_generate(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("generate", "writes text with a trained model");
  command.description(
      "Continues a prompt with a trained model, or a published one; the text appears as it is "
      "drawn, "
      "in whole characters.\n\n"
      "A checkpoint's model sees at most max_target_length tokens (of its training). A longer text "
      "goes on "
      "all the same: each time they are\n"
      "full, the older half is forgotten.\n\n"
      "Example:\n  strata generate --checkpoint build/demo/demo --prompt 'And God said' "
      "--max_tokens 300 --temperature 0.7 --seed 1\n"
      "  strata generate --checkpoint build/demo/demo --prompt - --top_k 40 --top_p 0.95 --stop "
      "END --num_samples 3 < prompt.txt\n"
      "  strata generate --model SmolLM2-135M-Instruct.gguf --prompt 'The capital of France is' "
      "--max_tokens 12\n");
  auto o = std::make_shared<Options>();
  train::GenerateOptions& g = o->generate;
  command.add_option("--checkpoint", o->checkpoint,
                     "a checkpoint's folder, or a run's, whose newest one is taken");
  command.add_option("--model", o->published.model,
                     "instead: a GGUF file, a Hugging Face directory, or a cache's "
                     "models--org--name");
  add_adapter(command, o->published.adapter);
  command
      .add_option("--prompt", o->prompts,
                  "text to go on from; - reads it from stdin; none begins a document; may be given "
                  "several times")
      .type_name("TEXT")
      .one_at_a_time();
  command
      .add_option("--max_tokens", o->published.max_tokens,
                  "tokens to draw (default: as the model's generation_config.json says, or 256)")
      .in_range(std::int64_t{1}, std::int64_t{1} << 30);
  o->published.sampling.add_to(command);
  o->published.engine.add_to(command);
  command.add_option("--stop", g.stop, "end before this string; may be given several times")
      .type_name("TEXT")
      .one_at_a_time();
  command.add_option("--num_samples", g.num_samples, "texts to draw, side by side")
      .in_range(std::int64_t{1}, std::int64_t{1024})
      .show_default();
  command.add_flag("--ignore_eos", g.ignore_eos, "go on behind the end of a document");
  add_activations(command, o->published.activations);
  add_threads(command, o->threads);
  add_device(command);
  command.add_flag("--stats", o->stats, "tokens per second, to stderr");
  command.add_flag("--json", o->json, "print one JSON object for each prompt instead");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
