#include "strata/cli/command.h"

#include <filesystem>
#include <iostream>
#include <new>

#include "strata/base/error.h"
#include "strata/base/memory/out_of_memory.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/runtime/device.h"

namespace strata::cli {
namespace {

/// Tells who names a run's folder where its configuration's file belongs.
void refuse_folder(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return;
  const std::string config = (std::filesystem::path(path) / "config.yml").string();
  if (std::filesystem::exists(config, error))
    throw Error(path, "is the folder of a run; its configuration is {}", config);
  throw Error(path, "is a folder; a YAML file of keys belongs here, or key=value alone");
}

}  // namespace

train::Config read_config_arguments(std::vector<std::string> arguments, train::Data data) {
  std::optional<std::string> file;
  if (!arguments.empty() && arguments.front().find('=') == std::string::npos) {
    file = arguments.front();
    arguments.erase(arguments.begin());
    refuse_folder(*file);
  }
  return train::read_config(file, arguments, data);
}

std::string key_as_option(const std::string& name) {
  for (const train::Field& f : train::fields())
    if (f.name == name) return fmt::format("; keys are given without dashes: {}=VALUE", name);
  return train::key_hint(name);
}

Exit exit_of(const Status& status) {
  switch (status.code()) {
    case Code::ok: return kDone;
    case Code::not_found:
    case Code::exists:
    case Code::corrupt:
    case Code::invalid:
    case Code::unsupported: return kBadInput;
    case Code::cancelled: return kInterrupted;
    case Code::denied:
    case Code::no_space:
    case Code::io: return kWorkFailed;
  }
  return kWorkFailed;
}

int fail(const Status& status) {
  std::cerr << "strata: " << status.message() << "\n";
  return exit_of(status);
}

void note_damaged(const std::vector<Status>& damaged) {
  for (const Status& s : damaged)
    std::cerr << fmt::format("strata: damaged checkpoint passed over: {}\n", s.message());
}

int guarded(const std::function<int()>& action) {
  try {
    return action();
  } catch (const Error& e) {
    std::cerr << "strata: " << e.what() << "\n";
    return kBadInput;
  } catch (const std::bad_alloc& e) {
    std::cerr << "strata: " << message_of(e) << "\n";
    return kWorkFailed;
  } catch (const std::exception& e) {
    std::cerr << "strata: " << e.what() << "\n";
    return kWorkFailed;
  }
}

void add_adapter(CommandLine& command, std::string& adapter) {
  command
      .add_option(
          "--adapter", adapter,
          "a folder with an adapter of low rank (LoRA) in PEFT's layout, beside the model's "
          "weights")
      .type_name("DIR");
}

void add_threads(CommandLine& command, int& threads) {
  command
      .add_option("--threads", threads, "threads (default: all cores); results do not depend on it")
      .in_range(1, 4096);
}

void add_activations(CommandLine& command, std::string& activations) {
  command
      .add_option("--activations", activations,
                  "how activations meet packed weights: float, or int8, rounded to eight bits as "
                  "llama.cpp does it, which is faster (default: float)")
      .one_of({"float", "int8"});
}

namespace {
/// What --device said; empty: the embedded CPU, or what STRATA_BACKEND says.
std::string& wanted_device() {
  static std::string device;
  return device;
}
}  // namespace

void add_device(CommandLine& command) {
  command.add_option("--device", wanted_device(),
                     "what computes: cpu (default), cuda, tpu, plugin:/path/x.so, or a name that "
                     "`strata info` lists; :N behind it takes the Nth of several");
}

int main(int argc, char** argv) {
  CommandLine app(
      "Strata trains small language models by its own compiler, writes text with them, and "
      "compiles programs of others.\n\n"
      "Example:\n  strata train configs/demo.yml steps=200\n  strata generate --checkpoint "
      "build/demo/demo --prompt 'In the "
      "beginning'\n\n"
      "Exit status: 0 done; 1 the work failed, or a file, memory or the disk; 2 the input or "
      "configuration is wrong;\n"
      "130 after Ctrl-C with a checkpoint written.",
      "strata");
  app.require_subcommand();
  std::function<int()> action;
  add_train(app, action);
  add_decode(app, action);
  add_train_compile(app, action);
  add_config(app, action);
  add_data(app, action);
  add_evaluate(app, action);
  add_plot(app, action);
  add_generate(app, action);
  add_chat(app, action);
  add_serve(app, action);
  add_bench(app, action);
  add_logits(app, action);
  add_embed(app, action);
  add_checkpoint(app, action);
  add_compile(app, action);
  add_convert(app, action);
  add_model(app, action);
  add_tokenize_text(app, action);
  add_launch(app, action);
  add_info(app, action);
  std::vector<std::string> words = with_end_of_options({argv, argv + argc});
  std::vector<char*> line;
  for (std::string& w : words) line.push_back(w.data());
  if (auto status = app.parse(static_cast<int>(line.size()), line.data(), kBadInput))
    return *status;
  compile::register_cpu();
  return guarded([&] {
    if (!wanted_device().empty())
      if (Status s = runtime::use_device(wanted_device()); !s.ok()) return fail(s);
    return action();
  });
}

}  // namespace strata::cli
