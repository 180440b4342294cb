#include "strata/train/generate.h"

#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/generate_text.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;
using train::Generated;

struct Options {
  std::string checkpoint, prompt;
  /// Of a published model; prompts, samples and how tokens are drawn hold for both.
  GenerateText published;
  train::GenerateOptions generate;
  bool json = false, stats = false;
  int threads = 0;
};

/// Thrown where the text goes to nobody any more; whoever ends the command says why.
struct OutputLost {};

/// Prints samples in their order: the first as it is drawn, a later one from when those before it
/// are complete. Throws OutputLost.
class Printer {
 public:
  Printer(std::ostream& out, const std::string& prompt, const train::GenerateOptions& o)
      : out_(out), prompt_(prompt), o_(o) {
    begin();
  }

  void add(std::int64_t sample, std::string_view text) {
    if (sample == 0) out_ << text << std::flush;
    if (!out_) throw OutputLost();
  }
  void finish(const Generated& all) {
    for (std::size_t i = 1; i < all.samples.size(); ++i) {
      out_ << "\n";
      ++sample_;
      begin();
      out_ << all.samples[i].text;
    }
    out_ << "\n";
  }

 private:
  void begin() {
    if (o_.num_samples > 1)
      out_ << fmt::format("--- sample {} of {}, seed {}\n", sample_ + 1, o_.num_samples,
                          o_.seed + sample_);
    out_ << prompt_ << std::flush;
  }
  std::ostream& out_;
  const std::string& prompt_;
  const train::GenerateOptions& o_;
  std::uint64_t sample_ = 0;
};

ordered_json to_json(const Options& o, const Generated& all, std::int64_t step) {
  ordered_json samples = ordered_json::array();
  for (std::size_t i = 0; i < all.samples.size(); ++i) {
    const train::Sample& s = all.samples[i];
    samples.push_back({{"text", s.text},
                       {"tokens", s.tokens},
                       {"end", train::name(s.end)},
                       {"seed", o.generate.seed + i}});
  }
  return {{"prompt", o.prompt},
          {"prompt_tokens", all.prompt_tokens},
          {"samples", samples},
          {"step", step}};
}

int run(Options o) {
  if (o.threads > 0) set_num_threads(o.threads);
  GenerateText& p = o.published;
  if (o.checkpoint.empty() == p.model.empty())
    return fail(Status(Code::invalid, "generate by what? --checkpoint FOLDER, or --model MODEL"));
  if (!p.model.empty()) {
    p.num_samples = o.generate.num_samples, p.stop = o.generate.stop;
    p.ignore_eos = o.generate.ignore_eos, p.json = o.json, p.stats = o.stats;
    return generate_text(p);
  }
  if (p.prompts.size() > 1)
    return fail(
        Status(Code::invalid, "--checkpoint goes on with one --prompt, not {}", p.prompts.size()));
  if (p.sampling.min_p || p.sampling.repetition_penalty || p.sampling.frequency_penalty ||
      p.sampling.presence_penalty)
    return fail(Status(Code::invalid, "min_p and penalties are for --model"));
  if (!p.prompts.empty()) o.prompt = p.prompts[0];
  o.generate.seed = p.sampling.seed;
  o.generate.max_tokens = p.max_tokens.value_or(o.generate.max_tokens);
  o.generate.temperature = p.sampling.temperature.value_or(o.generate.temperature);
  o.generate.top_k = p.sampling.top_k.value_or(o.generate.top_k);
  o.generate.top_p = p.sampling.top_p.value_or(o.generate.top_p);
  if (o.prompt == "-") o.prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
  auto generator = train::Generator::load(o.checkpoint);
  if (!generator) return fail(generator.status());
  note_damaged(generator->damaged());
  Generated all;
  if (o.json) {
    all = generator->generate(o.prompt, o.generate, [](std::int64_t, std::string_view) {});
    // A prompt need not be UTF-8.
    std::cout << to_json(o, all, generator->step())
                     .dump(-1, ' ', false, ordered_json::error_handler_t::replace)
              << "\n";
  } else {
    Printer printer(std::cout, o.prompt, o.generate);
    try {
      all = generator->generate(
          o.prompt, o.generate,
          [&](std::int64_t sample, std::string_view text) { printer.add(sample, text); });
    } catch (const OutputLost&) {
      return kWorkFailed;
    }
    printer.finish(all);
  }
  if (o.stats) {
    std::cerr << fmt::format(
        "{} tokens of prompt in {:.3f} s, {:.1f} tokens/s drawn in {:.3f} s, compiled in {:.2f} "
        "s\n",
        all.prompt_tokens, all.prompt_seconds, all.tokens_per_second(), all.decode_seconds,
        all.compile_seconds);
  }
  return kDone;
}

}  // namespace

void add_generate(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("generate", "writes text with a trained model");
  command.description(
      "Continues a prompt with a trained model, or a published one; the text appears as it is "
      "drawn, in whole "
      "characters.\n\n"
      "The model sees at most max_target_length tokens (of its training). A longer text goes on "
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
  command
      .add_option("--prompt", o->published.prompts,
                  "text to go on from; - reads it from stdin; none begins a document; several with "
                  "--model")
      .type_name("TEXT")
      .one_at_a_time();
  command
      .add_option("--max_tokens", o->published.max_tokens,
                  "tokens to draw (default: as the model's generation_config.json says, or 256)")
      .in_range(std::int64_t{1}, std::int64_t{1} << 30);
  o->published.sampling.add_to(command);
  command.add_option("--stop", g.stop, "end before this string; may be given several times")
      .type_name("TEXT")
      .one_at_a_time();
  command.add_option("--num_samples", g.num_samples, "texts to draw, side by side")
      .in_range(std::int64_t{1}, std::int64_t{1024})
      .show_default();
  command.add_flag("--ignore_eos", g.ignore_eos, "go on behind the end of a document");
  command
      .add_option("--threads", o->threads,
                  "threads (default: all cores); results do not depend on it")
      .in_range(1, 4096);
  command.add_flag("--stats", o->stats, "tokens per second, to stderr");
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
