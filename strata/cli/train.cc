#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/api/sharding/distributed.h"
#include "strata/base/text.h"
#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/maxtext.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/train/maxtext/translate.h"
#include "strata/train/report/plot.h"
#include "strata/train/run.h"

namespace strata::cli {
namespace {

using train::RunResult;

struct Options {
  std::vector<std::string> arguments;
  std::string init;
  bool print_config = false, json = false;
  int threads = 0;
};

const char* word(RunResult::Outcome outcome) {
  switch (outcome) {
    case RunResult::Outcome::done: return "done";
    case RunResult::Outcome::target_reached: return "target_eval_loss is reached";
    case RunResult::Outcome::time_over: return "max_seconds have passed";
    case RunResult::Outcome::interrupted: return "interrupted";
    case RunResult::Outcome::diverged: return "diverged";
  }
  return "";
}

std::string chart(const train::Config& config) {
  auto lines = train::read_metrics(train::metrics_path(config));
  return lines ? train::to_text(train::loss_chart(*lines, config.run_name)) : "";
}

void print(const RunResult& r, const train::Config& config, bool json) {
  if (json) {
    nlohmann::ordered_json out = {{"outcome", word(r.outcome)},
                                  {"step", r.step},
                                  {"loss", r.loss},
                                  {"tokens_per_second", r.tokens_per_second},
                                  {"checkpoint", r.checkpoint},
                                  {"curve", r.curve},
                                  {"adapter", r.adapter},
                                  {"metrics", train::metrics_path(config)},
                                  {"run", train::run_folder(config)}};
    if (!r.model.empty()) out["model"] = r.model;
    if (r.held_out_before) out["held_out_before"] = *r.held_out_before;
    if (r.held_out_after) out["held_out_after"] = *r.held_out_after;
    std::cout << out.dump() << "\n";
    return;
  }
  std::cout << fmt::format("{}: step {} of {}, loss {:.4f}\n", word(r.outcome), r.step,
                           config.steps, r.loss);
  if (::isatty(STDOUT_FILENO)) std::cout << chart(config);
  if (!r.checkpoint.empty()) std::cout << fmt::format("checkpoint: {}\n", r.checkpoint);
  if (!r.adapter.empty()) std::cout << fmt::format("adapter: {}\n", r.adapter);
  if (!r.curve.empty()) std::cout << fmt::format("curve: {}\n", r.curve);
  if (r.held_out_before && r.held_out_after)
    std::cout << fmt::format("held-out loss {:.4f} -> {:.4f}\n", *r.held_out_before,
                             *r.held_out_after);
  if (!r.model.empty()) std::cout << fmt::format("model: {}\n", r.model);
  if (r.step < config.steps && config.enable_checkpointing &&
      r.outcome != RunResult::Outcome::target_reached)
    std::cout << "the same command goes on from there\n";
}

/// train::run, where what fails since another process died is no mistake of the configuration.
Result<RunResult> run_with_others(const train::Config& config, Progress& progress) {
  try {
    return train::run(config, progress);
  } catch (const Error& e) {
    const auto* cluster = runtime::distributed::cluster();
    if (cluster == nullptr || !cluster->has_lost_one()) throw;
    return Status(Code::io, "{}", e.what());
  }
}

int run_config(const train::Config& config, const Options& o) {
  if (o.print_config) {
    std::cout << train::to_yaml(config);
    return kDone;
  }
  if (distributed::was_launched()) distributed::initialize();
  Progress progress(STDERR_FILENO);
  auto result = run_with_others(config, progress);
  progress.clear();
  if (!result) return fail(result.status());
  const bool is_first = distributed::process_index() == 0;
  if (result->outcome == RunResult::Outcome::diverged) {
    if (!is_first) return kWorkFailed;
    std::cerr << fmt::format(
        "strata: at step {}: {}; {}; a smaller learning_rate or gradient_clipping_threshold may "
        "help\n",
        result->step + 1, result->trouble,
        result->checkpoint.empty() ? "there is no checkpoint"
                                   : "the newest checkpoint is " + result->checkpoint);
    return kWorkFailed;
  }
  if (is_first) print(*result, config, o.json);
  return result->outcome == RunResult::Outcome::interrupted ? kInterrupted : kDone;
}

/// A command line is MaxText's or Strata's: what only one has does not stand beside what only the
/// other has. Throws ConfigError.
void refuse_mixed(const std::vector<std::string>& arguments, const std::string& init) {
  const std::string theirs = train::maxtext::first_of_maxtext(arguments);
  const auto is_ours = [](const std::string& a) {
    return a.starts_with("train_files=") || a.starts_with("init=");
  };
  const auto ours = std::find_if(arguments.begin(), arguments.end(), is_ours);
  if (theirs.empty() || (init.empty() && ours == arguments.end())) return;
  throw train::ConfigError(fmt::format(
      "{}: a key of MaxText's own command lines, in which there is no {}; {}", theirs,
      init.empty() ? ours->substr(0, ours->find('=')) : "--init",
      theirs.find("expert") != std::string::npos
          ? "experts come with the model that --init names: `strata model upcycle` makes one"
          : "`strata train --help` lists the keys that there are"));
}

int run(const Options& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  std::vector<std::string> arguments = o.arguments;
  refuse_mixed(arguments, o.init);
  if (train::maxtext::is_maxtext(arguments))
    return as_maxtext([&] { return run_config(maxtext_run(arguments), o); });
  if (!o.init.empty()) arguments.push_back("init=" + o.init);
  const auto data = o.print_config ? train::Data::optional : train::Data::required;
  return run_config(read_config_arguments(arguments, data), o);
}

}  // namespace

void add_train(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("train",
                         "trains a model on text files, or tunes a published one on texts or "
                         "conversations, and goes on where it stopped");
  command.description(
      "Trains a model on text files. The same command goes on from the newest checkpoint, with the "
      "same bits. Ctrl-C finishes the\n"
      "step and saves a checkpoint; a second one waits for that too, a third ends at once.\n\n"
      "Example:\n  strata train configs/demo.yml steps=200\n  strata train "
      "train_files='text/*.txt' run_name=first base_emb_dim=128 "
      "steps=500\n  strata train --init SmolLM2.gguf train_files=chats.jsonl "
      "train_data_columns=messages steps=100 learning_rate=2e-5\n\n"
      "MaxText's own command lines are understood too:\n  strata train "
      "src/maxtext/configs/base.yml run_name=first model_name=qwen3-0.6b "
      "dataset_type=synthetic steps=10\n");
  command.footer("Keys, their defaults and what is allowed:\n" + train::describe_fields());
  command.hint(key_as_option);
  auto o = std::make_shared<Options>();
  command.add_option("arguments", o->arguments, "a YAML file of keys, then key=value")
      .type_name("[FILE.yml] key=value ...");
  command
      .add_option("--init", o->init,
                  "a published model to tune, as init=...: a GGUF file, a Hugging Face directory")
      .type_name("MODEL");
  command.add_flag("--print-config", o->print_config, "print all keys with their values and stop");
  add_threads(command, o->threads);
  add_device(command);
  command.add_flag("--json", o->json, "the last line of stdout is one JSON object");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
