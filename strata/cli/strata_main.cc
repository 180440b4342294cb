// The `strata` command; its subcommands are the other files of this folder.
#include <iostream>

#include "strata/base/standard_output.h"
#include "strata/cli/command.h"
#include "strata/net/object_stores.h"

int main(int argc, char** argv) {
  strata::net::register_object_stores(
      [](const std::string& line) { std::cerr << "strata: " + line + "\n"; });
  strata::StandardOutput output;
  return output.finish("strata", strata::cli::main(argc, argv), strata::cli::kWorkFailed);
}
