// `strata compile --target=tpu:v5e:4x4`: what a program takes of each chip, without a chip.
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/cli/command.h"
#include "strata/runtime/plugin/topology.h"

namespace strata::cli {

struct TargetOptions {
  std::string program;   // a file
  std::string target;    // "tpu:v5e:4x4"
  std::string platform;  // of an export of JAX
  /// Parts into which shardings cut the program; 0: as its mhlo.num_partitions says.
  int partitions = 0;
  bool json = false;
};

/// What a program (text or bytecode) takes of each chip of a target. Codes: as
/// plugin::compile_for, and not_found where no such plugin is installed, with what to install.
Result<runtime::plugin::CompileReport> compile_code_for(const std::string& target,
                                                        std::string_view code,
                                                        std::int64_t partitions, bool shardy);
/// A report in words.
std::string report_text(const runtime::plugin::CompileReport& report, const std::string& target);
/// The same as members of a JSON object: "hbm_bytes_per_chip": 123, ...
std::string report_json(const runtime::plugin::CompileReport& report, const std::string& target);

/// Compiles and prints; the command's exit status. A program that does not fit is work that failed,
/// and the message names the largest buffers.
int compile_for_target(const TargetOptions& options);

}  // namespace strata::cli
