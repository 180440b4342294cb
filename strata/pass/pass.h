// The optimisation passes of the CPU compiler, each with a name, and the order in which they run.
//
//   std::unique_ptr<ir::Block> ready = pass::run_pipeline(ir::clone(block));
//
// `strata-opt --passes=licm,dce program.mlir` runs any of them on text, and
// `strata-opt --passes=cpu-pipeline --print-after=licm` all of them, in order.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pass {

/// What a pass may make true of a whole program, and what every later pass keeps.
enum class Property {
  no_tuples,              // no value is a tuple
  no_transform_ops,       // remat, custom_jvp and custom_vjp are replaced by what they compute
  no_tokens,              // effects are ordered by position alone
  kernel_operations,      // every operation has a kernel or no decomposition
  single_value_barriers,  // each optimisation barrier has one operand
};
/// Its name as in errors: "no-tuples".
std::string_view name_of(Property property);
/// Whether it is true of the block and the regions in it.
bool holds(Property property, const ir::Block& block);

/// Lines that passes leave for whoever asked why a program is compiled as it is (`--explain`).
using Remarks = std::vector<std::string>;

/// A pass over a program. The same program in gives the same program out, always.
struct Pass {
  std::string_view name;     // "dot-chunking"
  std::string_view summary;  // what it does, in one sentence
  /// Whether the compiler refuses programs that the pass has not run on.
  bool required = false;
  /// Whether it only tidies up after other passes.
  bool cleanup = false;
  std::vector<Property> establishes;
  /// Changes or replaces the block; returns whether anything changed. `remarks` may be null.
  bool (*run)(std::unique_ptr<ir::Block>& block, Remarks* remarks) = nullptr;
};

/// All passes, in the order in which they first run in the pipeline.
std::span<const Pass> all_passes();
/// Null where there is none of that name.
const Pass* find_pass(std::string_view name);

/// One place in the pipeline.
struct Step {
  std::string_view pass;
  std::string_view reason;  // for standing here and not elsewhere
  /// For a cleanup: whether it runs only where a pass since the last cleanup changed something.
  bool if_changed = false;
};
std::span<const Step> pipeline();

/// What a pass did in one run of the pipeline.
struct Run {
  const Pass* pass;
  bool changed;
  std::size_t operations_before, operations_after;  // in regions too
  double seconds;                                   // of the processor
};

struct PipelineOptions {
  /// Names of passes that are left out, to find by bisection which of them breaks a program.
  std::vector<std::string> disabled;
  /// Whether the program and the properties that hold are verified after each pass.
  bool verify = false;
  /// Called after each pass that ran.
  std::function<void(const Run&, const ir::Block&)> after;

  /// What STRATA_DISABLE_PASS (names, separated by commas) and STRATA_VERIFY_PASSES=1 say. Throws
  /// strata::Error where a name is unknown or of a required pass.
  static const PipelineOptions& from_environment();
};

/// The program after all passes of the pipeline: what `compile` plans. Throws strata::Error where a
/// disabled pass is unknown or required, and where the program cannot be compiled.
std::unique_ptr<ir::Block> run_pipeline(
    std::unique_ptr<ir::Block> block, Remarks* remarks = nullptr,
    const PipelineOptions& options = PipelineOptions::from_environment());

/// A function of this name with a copy of the block as its body: to print it, say.
std::unique_ptr<ir::Function> as_function(std::string name, const ir::Block& block);

/// Makes all of them known to strata-opt, beside those of `ir`.
void add_passes();

}  // namespace strata::pass
