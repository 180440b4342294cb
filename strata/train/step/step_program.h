// The training step of a run as one program, which is not run: what compilers of other devices
// take, and what is told of it beforehand.
//
//   train::StepProgram p = train::step_program(config);
//   std::cout << p.text();               // StableHLO, with Shardy's shardings where there is a
//   mesh p.arguments[0].name                  // "params.token_embedder"
//
// Loss, gradients of all micro-batches, clipping, the optimizer's update and the norms, in
// StableHLO's own words; its results have the bits of the step that `train::run` takes. With
// several micro-batches gradients differ from them by the rounding of one sum for each: the step
// carries sums on from one to the next (pass/dot/accumulator_folding.h), for which StableHLO has no
// word.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/train/config/base_model.h"
#include "strata/train/step/state_sharding.h"
#include "strata/transform/grouped_products.h"

namespace strata::train {

/// An argument or result of the program.
struct StepValue {
  /// "params.layers.query", "optimizer[0].mu.layers.query", "batch.tokens", "outcome.loss".
  std::string name;
  Type type;
  /// None without a mesh, and for results whose shardings the compiler chooses.
  std::optional<mesh::NamedSharding> sharding = std::nullopt;
  /// Of an argument: the result that takes its memory; -1: it stays.
  int donated_to = -1;
};

struct StepProgram {
  /// One function, `main`: the state's leaves and the batch's to the outcome's and the state's. In
  /// this compiler's own words, which know how often loops run.
  std::unique_ptr<ir::Module> module;
  std::vector<StepValue> arguments, results;
  /// Sequences and tokens of each in one step.
  std::int64_t sequences = 0, length = 0;

  /// The program in StableHLO's own words, with products of groups as a compiler takes them.
  std::string text(transform::GroupedProducts how = transform::GroupedProducts::as_they_are) const;
  /// The module again, for who uses it up.
  std::unique_ptr<ir::Module> copy() const;
  /// Devices of the mesh; 1 without.
  std::int64_t devices() const;
};

/// The step of a configuration's run. No weight is made: a model may be larger than this machine.
/// Throws ConfigError as `train::run` does; Error for sizes that the mesh does not divide.
StepProgram step_program(const Config& config,
                         std::shared_ptr<const nn::LogicalMesh> mesh = nullptr);
/// The same of a base that is there.
StepProgram step_program(const Config& config, const Base& base,
                         std::shared_ptr<const nn::LogicalMesh> mesh = nullptr);

}  // namespace strata::train
