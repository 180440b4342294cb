// Programs before and after they are compiled (jax.stages).
//
//   auto lowered = jit(f).lower(x, y);                      // a graph
//   std::cout << lowered.as_text();                         // StableHLO
//   auto compiled = lowered.compile();                      // for arguments of these types;
//   compiled(x, y) runs it compiled.cost_analysis().flops;                         // what it
//   computes compiled.memory_analysis().temp_size_in_bytes;          // what memory it takes
//   std::cout << compiled.as_native();                      // its machine code
//
// Deviations: analyses are structs instead of dictionaries; cost_analysis knows no transcendental
// functions apart and no utilisation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "strata/api/trace/trace.h"

namespace strata {

/// What one run computes and moves. Of a loop of unknown length one turn counts.
struct CostAnalysis {
  /// Operations on numbers that the graph asks for; a multiply-add is two.
  double flops = 0;
  /// Bytes read and written. For a graph this is the sum over its operations; for a compiled
  /// program the sum over its kernel launches, as intermediate values of fused operations stay in
  /// registers.
  double bytes_accessed = 0;
};

/// Memory of one run, in bytes, under upstream's names (CompiledMemoryStats).
struct MemoryAnalysis {
  std::int64_t argument_size_in_bytes = 0, output_size_in_bytes = 0;
  /// Of results that take the memory of donated arguments.
  std::int64_t alias_size_in_bytes = 0;
  std::int64_t temp_size_in_bytes = 0;
  /// Of the object files with its machine code.
  std::int64_t generated_code_size_in_bytes = 0;
};

/// A traced program, before it is compiled.
class Lowered {
 public:
  Lowered(std::shared_ptr<const internal::Program> program, std::string name,
          std::vector<std::string> paths)
      : program_(std::move(program)), name_(std::move(name)), paths_(std::move(paths)) {}
  /// A StableHLO module with one function.
  std::string as_text() const;
  /// What the program costs before it is optimised: operations and bytes.
  CostAnalysis cost_analysis() const;
  /// The graph.
  const ir::Block& block() const { return *program_->block; }

 private:
  std::shared_ptr<const internal::Program> program_;
  std::string name_;
  std::vector<std::string> paths_;
};

namespace internal {

struct Bound;  // call.h

CostAnalysis cost_analysis(const Bound& bound);
MemoryAnalysis memory_analysis(const Bound& bound);
/// Assembly of its kernels, in the order in which it first runs them, and of the driver that runs
/// them. Makes the code anew.
std::string as_native(const Bound& bound);

}  // namespace internal

}  // namespace strata
