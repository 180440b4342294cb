// Names of Flax Linen: its collections as kinds of variables, and its checkpoints by path.
//
//   nn::variable_name_from_type<nn::BatchStat>()               // "batch_stats"
//   nn::register_variable_name<Adapter>("adapters");
//   tree::Tree state = nn::from_linen(variables);              // "params/Dense_0/kernel" ->
//   Param Dense_0/kernel Model loaded = nn::restore(model, nn::from_linen(variables, model,
//       {{"Dense_0", "layers/0"}}));
//
// Linen keeps variables as {collection: {module: {... name: array}}}, NNX as {module: {... name:
// Variable of a kind}}. Lists of submodules are called layers_0, layers_1 there and layers/0,
// layers/1 here. Source: flax/nnx/variablelib.py, flax/nnx/bridge/variables.py (0.12.8).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strata/nn/state.h"

namespace strata::nn {

/// The collection of a kind of variable: "params" of Param. A kind without one is called after
/// itself, as upstream does: "Adapter".
std::string variable_name_from_type(const tree::Kind& kind);
template <class V>
std::string variable_name_from_type() {
  return variable_name_from_type(V::kind());
}
/// The kind of a collection. Throws Error with the collections there are for another name.
const tree::Kind& variable_type_from_name(const std::string& name);
/// Gives a kind of one's own a collection, process-wide. Throws Error where the name is another
/// kind's, unless it is to be overwritten. The kind must live as long as the process.
void register_variable_name(const std::string& name, const tree::Kind& kind,
                            bool overwrite = false);
template <class V>
void register_variable_name(const std::string& name, bool overwrite = false) {
  register_variable_name(name, V::kind(), overwrite);
}

/// Prefixes of Linen's module paths and what takes their place; the longest that fits holds.
using LinenNames = std::vector<std::pair<std::string, std::string>>;

/// A state of Linen's variables: a tree with the collection in front of each path. Throws Error for
/// an unknown collection, and where two collections have the same path.
tree::Tree from_linen(const tree::Tree& variables, const LinenNames& names = {});
/// The same with paths as a model has them: `names` first, then "layers_0" as "layers/0" where the
/// model has that path. Throws Error for a path that the model lacks, naming the nearest.
tree::Tree from_linen_like(const tree::Tree& variables, const tree::Tree& model,
                           const LinenNames& names = {});
template <tree::TreeLike M>
tree::Tree from_linen(const tree::Tree& variables, const M& model, const LinenNames& names = {}) {
  return from_linen_like(variables, tree::of(model), names);
}
/// Linen's variables of a state: the collection of its kind in front of each path. Of the names,
/// the second of each pair is replaced by the first.
tree::Tree to_linen(const tree::Tree& state, const LinenNames& names = {});

}  // namespace strata::nn
