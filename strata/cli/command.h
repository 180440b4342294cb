// What the subcommands of `strata` share.
#pragma once

#include <functional>

#include "strata/base/command_line.h"
#include "strata/base/result.h"
#include "strata/train/config/config.h"

namespace strata::cli {

/// Exit statuses that people and scripts rely on.
enum Exit {
  kDone = 0,
  kWorkFailed =
      1,  // a file, memory or the disk failed; the loss is no number; our own check failed
  kBadInput =
      2,  // the user's input or configuration; the message names it and says what is allowed
  kInterrupted = 130,  // Ctrl-C, with a checkpoint written
};

/// The exit status that a failure means.
Exit exit_of(const Status& status);
/// Prints "strata: message" to stderr and gives the exit status.
int fail(const Status& status);
/// Says on stderr which checkpoints were passed over and why.
void note_damaged(const std::vector<Status>& damaged);
/// Runs an action; what it throws becomes a message and an exit status.
int guarded(const std::function<int()>& action);

/// The configuration that `[FILE.yml] key=value ...` means. Throws train::ConfigError.
train::Config read_config_arguments(std::vector<std::string> arguments,
                                    train::Data data = train::Data::required);
/// Says of a key that was given as an option how keys are given.
std::string key_as_option(const std::string& name);

/// Adds the option --adapter.
void add_adapter(CommandLine& command, std::string& adapter);
/// Adds the option --threads; 0, which it leaves where it is not given, means all cores.
void add_threads(CommandLine& command, int& threads);

/// Adds the option --activations: "float" or "int8".
void add_activations(CommandLine& command, std::string& activations);

/// Adds the option --device, which chooses what computes (runtime/device.h) before the command
/// runs.
void add_device(CommandLine& command);

/// Each adds one subcommand, which sets `action` when it is chosen.
void add_train(CommandLine& app, std::function<int()>& action);
void add_decode(CommandLine& app, std::function<int()>& action);
void add_train_compile(CommandLine& app, std::function<int()>& action);
void add_config(CommandLine& app, std::function<int()>& action);
void add_data(CommandLine& app, std::function<int()>& action);
void add_evaluate(CommandLine& app, std::function<int()>& action);
void add_plot(CommandLine& app, std::function<int()>& action);
void add_chat(CommandLine& app, std::function<int()>& action);
void add_serve(CommandLine& app, std::function<int()>& action);
void add_bench(CommandLine& app, std::function<int()>& action);
/// Of `strata bench`.
void add_bench_serve(CommandLine& bench, std::function<int()>& action);
void add_generate(CommandLine& app, std::function<int()>& action);
void add_logits(CommandLine& app, std::function<int()>& action);
void add_embed(CommandLine& app, std::function<int()>& action);
void add_checkpoint(CommandLine& app, std::function<int()>& action);
void add_compile(CommandLine& app, std::function<int()>& action);
void add_convert(CommandLine& app, std::function<int()>& action);
void add_model(CommandLine& app, std::function<int()>& action);
/// A verb of `strata model`.
void add_model_routes(CommandLine& app, std::function<int()>& action);
void add_tokenize_text(CommandLine& app, std::function<int()>& action);
void add_info(CommandLine& app, std::function<int()>& action);
void add_launch(CommandLine& app, std::function<int()>& action);
/// The same command line; where it is `strata launch`'s, "--" stands before the program that it
/// starts, whose options are not ours.
std::vector<std::string> with_end_of_options(const std::vector<std::string>& arguments);

/// The whole command but for what becomes of its standard output.
int main(int argc, char** argv);

}  // namespace strata::cli
