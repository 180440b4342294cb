// Compiling for chips that are not here: a plugin's compiler, a topology's name, a program.
//
//   auto report = plugin::compile_for({.library = "libtpu.so", .topology = "v5e:4x4"}, program);
//   report->temp_bytes                         // on each chip
//   report->collectives.at("all-gather").times
//
// Source: openxla/xla, PJRT_TopologyDescription_Create and PJRT_Compile; hlo.proto for the
// optimised program.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/runtime/plugin/compile_options.h"

namespace strata::runtime::plugin {

struct TopologyOptions {
  std::string library;   // a path of a shared library
  std::string topology;  // "v5e:4x4"
  /// What the topology is created with, by name, as ClientOptions::create.
  std::vector<std::pair<std::string, std::string>> create = {};
};

/// Collectives of one kind in the optimised program.
struct Collectives {
  /// How often a chip takes part in one run, loops of known length multiplied out.
  std::int64_t times = 0;
  /// Of the whole arrays, all times together: what an all-gather gives, what a reduce-scatter or an
  /// all-reduce is given.
  std::int64_t bytes = 0;
};

/// What a program takes of each chip.
struct CompileReport {
  std::string platform, kind;  // "tpu", "TPU v5 lite"
  std::int64_t chips = 0;      // of the topology
  std::int64_t hbm_bytes = 0;  // of a chip, 0 where the plugin does not say
  std::int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temp_bytes = 0,
               code_bytes = 0, peak_bytes = 0;
  /// Arguments, results that share memory with none of them, temporaries and code; or the peak,
  /// where the plugin says one that is higher.
  std::int64_t total_bytes() const {
    return std::max(argument_bytes + output_bytes - alias_bytes + temp_bytes + code_bytes,
                    peak_bytes);
  }
  double flops = 0, bytes_accessed = 0;                 // of a chip
  std::map<std::string, Collectives> collectives = {};  // by HLO's names: "all-gather"
  double compile_seconds = 0;
};

/// Compiles a program (StableHLO as bytecode or text). Codes: as Library::open; invalid for a
/// topology that the plugin does not know, a program that it refuses, or one of more parts than the
/// topology has chips, on which libtpu would end the process; no_space for one that does not fit,
/// with the plugin's words, of which `shortage_of` reads the numbers.
Result<CompileReport> compile_for(const TopologyOptions& options, std::string_view program,
                                  const CompileRequest& request);

/// Bytes of a chip's memory that a program takes, and that there are.
struct Shortage {
  std::int64_t needed = 0, available = 0;
};
/// The numbers in XLA's words on a program that does not fit: "(85.84G) exceeds available HBM
/// (15.75G)" or "Used 23.40G of 15.75G hbm". None in other words. Its K, M, G and T are powers of
/// 1024.
std::optional<Shortage> shortage_of(std::string_view words);

/// Collectives of an HloModuleProto (xla/service/hlo.proto), by opcode; libtpu's all-reduces that
/// keep a slice alone are reduce-scatters. A loop runs as often as its counter says, where that
/// counts by ones from a constant to a constant, else once. Code::corrupt for bytes that are none.
Result<std::map<std::string, Collectives>> collectives_of(std::string_view hlo);

}  // namespace strata::runtime::plugin
