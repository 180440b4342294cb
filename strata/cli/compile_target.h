// `strata compile --target=tpu:v5e:4x4`: what a program takes of each chip, without a chip.
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/cli/command.h"
#include "strata/ir/graph.h"
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

/// "it takes 92.2 GB of a chip that has 16.9 GB, 75.3 GB too much\n", of a compiler's words on a
/// program that does not fit; nothing where they have no numbers (plugin::shortage_of).
std::string shortage_text(std::string_view words);

/// The largest arrays that a program is given or makes, over all its chips, of three sizes: "the
/// largest arrays, over all chips: argument 0 tensor<...> (492 GB), ...\n".
std::string largest_arrays(const ir::Module& module);

/// Compiles and prints; the command's exit status. A program that does not fit is work that failed,
/// and the message names the largest buffers.
int compile_for_target(const TargetOptions& options);

}  // namespace strata::cli
