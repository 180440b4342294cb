// Which values are cut how, from what a program says of some of them: Shardy's propagation.
//
//   Meshes meshes(module);
//   Shardings s = read_shardings(f, meshes);
//   propagate(f, meshes, s);
//   write_shardings(f, meshes, s);
//
// Shardings spread along the factors of operations and along the data flow of loops, branches and
// calls, in rounds: priorities of the user, within each the five of operations (elementwise first),
// within each first what nobody objects to (basic), then with conflicts settled (aggressive); each
// to a fixpoint. Closed dimensions, `replicated` axes, barriers and groups are kept. Ties are
// settled by index, so that equal programs get equal shardings. Source:
// shardy/dialect/sdy/transforms/propagation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/partition/projection.h"

namespace strata::spmd {

/// What is known of a function's values. Looked up by value only.
struct Shardings {
  std::unordered_map<const ir::Value*, Sharding> values;
  std::vector<std::optional<Sharding>> results;  // of the function
  /// By whose annotation a value is cut over an axis of the mesh, in words; by axis -1 that the
  /// value was annotated itself. Looked up only.
  std::map<std::pair<const ir::Value*, int>, std::string> origins;
};

/// Of which layers propagation consists; tests switch some off.
struct PropagationOptions {
  bool user_priorities = true, op_priorities = true;
  std::vector<Strategy> strategies = {Strategy::basic, Strategy::aggressive};
};

/// `sdy.sharding` of arguments, results and operations, and what constraints and manual
/// computations say. Throws strata::Error for shardings that do not fit their value.
Shardings read_shardings(const ir::Function& f, Meshes& meshes);
/// What a constraint, or the operand of a manual computation, says of a value holds for the value
/// from where it is made, unless another one says otherwise, or it is carried by a loop or branch,
/// or a dimension is left open: then it is cut there and not only moved. Source:
/// shardy/dialect/sdy/transforms/import/apply_sharding_constraints.cc.
void apply_constraints(const ir::Function& f, Shardings& shardings);
/// Calls must have been inlined.
void propagate(const ir::Function& f, const Meshes& meshes, Shardings& shardings,
               const PropagationOptions& options = {});
/// Writes them back as attributes.
void write_shardings(ir::Function& f, const Meshes& meshes, const Shardings& shardings);

}  // namespace strata::spmd
