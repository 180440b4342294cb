#include "strata/cli/maxtext.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "strata/base/file.h"
#include "strata/base/thread_pool.h"
#include "strata/cli/generate_text.h"
#include "strata/train/evaluate/generate.h"
#include "strata/train/maxtext/import.h"
#include "strata/train/maxtext/translate.h"

namespace strata::cli {
namespace {

namespace maxtext = train::maxtext;
using maxtext::Resolved;

struct Options {
  std::vector<std::string> arguments;
  std::string key;
  int threads = 0;
};

int refuse(const std::string& text) {
  const std::string line(80, '='), message = "MAXTEXT CONFIG ERROR: " + text;
  std::cerr << line << "\n" << message << "\n" << line << "\n";
  constexpr const char* kTerminationLog = "/dev/termination-log";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(kTerminationLog, ignored))
    std::ofstream(kTerminationLog) << message;
  return kBadInput;
}

const std::string* text_of(const Resolved& r, const std::string& key) {
  return r.values.at(key).text();
}
double number_of(const Resolved& r, const std::string& key) {
  return maxtext::number(r.values.at(key));
}

// -- decode ------------------------------------------------------------------------------------

/// How MaxText's strategies draw.
train::GenerateOptions sampling_of(const Resolved& r) {
  train::GenerateOptions out;
  const std::string strategy = *text_of(r, "decode_sampling_strategy");
  out.temperature = strategy == "greedy" ? 0 : number_of(r, "decode_sampling_temperature");
  if (strategy == "topk" || strategy == "composite")
    out.top_k = static_cast<std::int64_t>(number_of(r, "decode_sampling_top_k"));
  if (strategy == "nucleus" || strategy == "composite")
    out.top_p = number_of(r, "decode_sampling_nucleus_p");
  if (out.top_p <= 0 || out.top_p > 1)
    throw train::ConfigError(fmt::format(
        "decode_sampling_nucleus_p={}: decode_sampling_strategy={} needs a share above 0 and at "
        "most 1",
        out.top_p, strategy));
  const double prefill = number_of(r, "max_prefill_predict_length");
  const double room = number_of(r, "max_target_length") - prefill;
  if (room < 1)
    throw train::ConfigError(
        fmt::format("max_target_length={}: it must be above max_prefill_predict_length={}",
                    number_of(r, "max_target_length"), prefill));
  out.max_tokens = static_cast<std::int64_t>(room);
  out.seed = static_cast<std::uint64_t>(number_of(r, "init_weights_seed"));
  return out;
}

int decode_published(const std::string& model, const std::string& prompt,
                     const train::GenerateOptions& how) {
  GenerateText text;
  text.model = model;
  text.prompts = {prompt};
  text.max_tokens = how.max_tokens;
  text.sampling.temperature = how.temperature;
  text.sampling.top_k = how.top_k;
  text.sampling.top_p = how.top_p;
  text.sampling.seed = how.seed;
  return generate_text(text);
}

int decode(const Options& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  const Resolved r = resolve_maxtext(o.arguments);
  for (const std::string& note : maxtext::translate(r, false).notes) std::cerr << note << "\n";
  const std::string path = maxtext::str(r.values.at("load_parameters_path"));
  const std::string& prompt = *text_of(r, "prompt");
  const train::GenerateOptions how = sampling_of(r);
  const std::string run = *text_of(r, "base_output_directory") + "/" + *text_of(r, "run_name");
  const std::string from = path.empty() ? run : path;
  std::error_code ignored;
  if (std::filesystem::exists(from + "/config.json", ignored) || from.ends_with(".gguf"))
    return decode_published(from, prompt, how);
  auto generator = train::Generator::load(from);
  if (!generator) return fail(generator.status());
  note_damaged(generator->damaged());
  const train::Generated all = generator->generate(prompt, how, [](std::string_view) {});
  std::cout << fmt::format("Input `{}` -> `{}`\n", prompt, all.samples.front().text);
  return kDone;
}

int explain(const Options& o) {
  std::cout << maxtext::explain(o.key, maxtext::resolve(o.arguments));
  return kDone;
}

void add_arguments(CommandLine& command, Options& o) {
  command.add_option("arguments", o.arguments, "a YAML file of MaxText's keys, then key=value")
      .type_name("[FILE.yml] key=value ...");
}

}  // namespace

int as_maxtext(const std::function<int()>& action) {
  try {
    return action();
  } catch (const maxtext::Refused& e) {
    return refuse(e.what());
  } catch (const train::ConfigError& e) {
    return refuse(e.what());
  }
}

Resolved resolve_maxtext(const std::vector<std::string>& arguments) {
  Resolved out = maxtext::resolve(arguments);
  for (const std::string& warning : out.warnings) std::cerr << "warning: " << warning << "\n";
  return out;
}

train::Config maxtext_run(const std::vector<std::string>& arguments) {
  const Resolved r = resolve_maxtext(arguments);
  const maxtext::Translation t = maxtext::translate(r);
  if (maxtext::truth(r.values.at("log_config")))
    for (const std::string& line : maxtext::config_lines(r)) std::cerr << line << "\n";
  for (const std::string& note : t.notes) std::cerr << note << "\n";
  if (t.synthetic) {
    std::error_code ignored;  // what cannot be made is told by the write
    std::filesystem::create_directories(std::filesystem::path(t.synthetic->first).parent_path(),
                                        ignored);
    if (Status s = write_file_atomic(t.synthetic->first, t.synthetic->second); !s.ok())
      throw train::ConfigError(s.message());
  }
  std::vector<std::string> keys = t.keys;
  if (const char* tflops = std::getenv("STRATA_DEVICE_TFLOPS"))
    keys.push_back(fmt::format("device_tflops={}", tflops));
  train::Config config = train::read_config({}, keys);
  if (Status s = maxtext::import_checkpoint(r, config); !s.ok())
    throw train::ConfigError(s.message());
  return config;
}

void add_decode(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("decode", "goes on with a text, by MaxText's decoding command line");
  command.description(
      "Writes what a model makes of `prompt`. The model is load_parameters_path (a run, a "
      "checkpoint, a Hugging Face\ndirectory, a GGUF file), else the run that run_name names.\n\n"
      "Example:\n  strata decode src/maxtext/configs/base.yml run_name=first "
      "base_output_directory=runs prompt='I love to'");
  auto o = std::make_shared<Options>();
  add_arguments(command, *o);
  add_threads(command, o->threads);
  add_device(command);
  command.callback(
      [o, &action] { action = [o] { return as_maxtext([&] { return decode(*o); }); }; });
}

void add_config(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("config", "keys of MaxText: what they are and do");
  command.require_subcommand();
  CommandLine& one = command.add_subcommand("explain", "default, value, its source, and effect");
  one.description(
      "Says of a key of MaxText its type, default, the value that a command line gives it and from "
      "where, and what it does here.\n\nExample:\n  strata config explain base_emb_dim "
      "model_name=llama3.1-8b");
  auto o = std::make_shared<Options>();
  one.add_option("key", o->key, "the key").required();
  add_arguments(one, *o);
  one.callback([o, &action] { action = [o] { return as_maxtext([&] { return explain(*o); }); }; });
}

}  // namespace strata::cli
