// A program as it comes through PJRT, compiled for one device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "strata/pjrt/compile_options.h"
#include "strata/pjrt/layouts.h"
#include "strata/runtime/client.h"

namespace strata::pjrt {

/// Shared by the executables that a framework makes of it; nothing but `last_s` changes for who
/// looks at it.
struct Program {
  std::string code, options_bytes;  // as they came: what serialises it
  CompileOptions options;
  std::string name, fingerprint;
  std::shared_ptr<runtime::Executable> executable;
  std::vector<bool> donated;                              // arguments that the program gives away
  std::vector<bool> argument_tokens, result_tokens;       // a framework may give i1[0] for one
  std::vector<std::string> argument_kinds, result_kinds;  // memories
  std::vector<Order> argument_orders, result_orders;      // of the arrays' dimensions
  /// xla.OpSharding of each, in protobuf's wire format; no bytes: whole on every device.
  std::vector<std::string> argument_shardings, result_shardings;
  double flops = 0, bytes_accessed = 0;
  bool calls_out =
      false;  // to handlers from outside, whose failures are told by the call that runs it
  std::atomic<double> last_s{1};  // how long the last run took

  /// The same program with a clock at each launch, compiled when it is first asked for: the code is
  /// there, the plan is made again. Memory for its results is the executable's matter. Sets `made`
  /// when this call compiled it.
  std::shared_ptr<runtime::Executable> timed(bool* made = nullptr);

  /// Bytes that `read_program` takes back, in the same version of Strata.
  std::string serialize() const;

 private:
  std::mutex mutex_;
  std::shared_ptr<runtime::Executable> timed_;
};

/// Reads, checks and compiles: text, bytecode of MLIR with StableHLO or VHLO. Throws Failure and
/// strata::Error. A program of several devices becomes that of each (sharded_program.h). The
/// executable's types are those of a device's arrays in their layouts (layouts.h). Runs on a thread
/// of its own: the caller's stack may be small.
std::shared_ptr<Program> compile_program(std::string_view code, std::string_view options);
/// Of `Program::serialize`, with other options if any are given. Throws Failure for other bytes or
/// another version.
std::shared_ptr<Program> read_program(std::string_view bytes, std::string_view other_options);

/// The program for upstream's reader, with the orders of its arrays' dimensions: as text, or as
/// bytecode where it is large (constants that would be written and read digit by digit).
std::string shown_program(const Program& program);

}  // namespace strata::pjrt
