// `strata compile --target=tpu:v5e:4x4`: what a program takes of each chip, without a chip.
#pragma once

#include <string>

#include "strata/cli/command.h"

namespace strata::cli {

struct TargetOptions {
  std::string program;   // a file
  std::string target;    // "tpu:v5e:4x4"
  std::string platform;  // of an export of JAX
  /// Parts into which shardings cut the program; 0: as its mhlo.num_partitions says.
  int partitions = 0;
  bool json = false;
};

/// Compiles and prints; the command's exit status. A program that does not fit is work that failed,
/// and the message names the largest buffers.
int compile_for_target(const TargetOptions& options);

}  // namespace strata::cli
