// A function made ready to run, by reference or as machine code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/conformance/checks.h"
#include "strata/ir/graph.h"
#include "strata/runtime/specialized.h"

namespace strata::conformance {

enum class Mode : std::uint8_t { reference, compiled };

/// How a program ended: the commands' exit statuses.
enum class Verdict : std::uint8_t {
  equal = 0,
  differs = 1,
  malformed = 2,
  unsupported = 3,
  world = 4,
  internal = 70
};
Verdict verdict_of(const Status& status);

/// Every constant of more than one element becomes a further argument of `f`, so that no pass can
/// fold it; returns their values. Those inside isolated regions stay.
std::vector<Literal> constants_to_arguments(ir::Function& f);

/// A function in a mode. Throws strata::Error where it cannot be compiled.
class Callable {
 public:
  /// Takes the checks out of `f`, which must outlive this. `fold`: constants stay inside. `timed`:
  /// a run can tell its launches' times.
  Callable(ir::Function& f, Mode mode, bool fold, bool timed = false);
  /// The results, those that checks compare at the end. What the program prints goes to stdout, or
  /// is added to `printed`.
  std::vector<runtime::Buffer> run(const std::vector<Literal>& arguments,
                                   std::string* printed = nullptr) const;
  /// The same for a compiled program whose shapes are static, on arguments that a device may hold.
  std::vector<runtime::Buffer> run_buffers(std::vector<runtime::Buffer> arguments) const {
    return executable_->run(std::move(arguments));
  }
  /// The same of a compiled program whose shapes are static; adds when its launches ran to `times`.
  std::vector<runtime::Buffer> run_timed(const std::vector<Literal>& arguments,
                                         runtime::LaunchTimes& times) const;
  /// What runs, or null where that depends on the arguments or the reference evaluator runs.
  const runtime::Executable* executable() const { return executable_.get(); }
  /// Compiles for arguments of open shapes, of which then none is made again for the same ones.
  void compile(const std::vector<Literal>& arguments) const;
  const std::vector<Check>& checks() const { return checks_; }
  /// How many results are the function's own.
  std::size_t num_results() const { return num_results_; }

 private:
  std::vector<runtime::Buffer> buffers(const std::vector<Literal>& arguments) const;

  ir::Function* f_;
  std::size_t num_results_;
  std::vector<Check> checks_;
  std::vector<Literal> constants_;
  std::unique_ptr<runtime::Specialized> specialized_;  // null: by reference
  std::shared_ptr<runtime::Executable> executable_;    // null: by reference, or of open shapes
};

std::vector<Literal> literals(const std::vector<runtime::Buffer>& buffers);

/// in.0, in.1, ... of a file as arguments of `f`; their types must be the function's ('?' takes any
/// size).
Result<std::vector<Literal>> arguments_of(const ir::Function& f, const checkpoint::TensorFile& file,
                                          const std::string& name);

/// The tolerance that a file states in its metadata (`rtol`, `atol`), zero without.
op::Demand tolerance_of(const checkpoint::TensorFile& file);

/// Compares the function's results with out.0, out.1, ... of a file; one line for each that differs
/// or is missing.
std::vector<std::string> differences(const std::vector<Literal>& results, std::size_t count,
                                     const checkpoint::TensorFile& file, const op::Demand& demand,
                                     op::Distance* largest = nullptr);

}  // namespace strata::conformance
