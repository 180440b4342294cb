#include "strata/cli/command.h"

namespace strata::cli {

void add_bench(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("bench", "measures speed: of a server under load");
  command.description(
      "Measures speed.\n\nExample:\n  strata bench serve --num-prompts 64 --max-concurrency 8\n");
  command.require_subcommand();
  add_bench_serve(command, action);
}

}  // namespace strata::cli
