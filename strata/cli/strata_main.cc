// The `strata` command; its subcommands are the other files of this folder.
#include "strata/cli/command.h"

int main(int argc, char** argv) { return strata::cli::main(argc, argv); }
