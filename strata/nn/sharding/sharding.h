// How variables are sharded over a mesh: names of their axes, and rules from logical names to axes
// of a mesh.
//
//   nn::Linear up(4, 8, rngs, {.kernel_metadata = {.out_sharding = {"embed", "mlp"}}});
//   const nn::LogicalAxisRules rules({{"embed", {"data"}}, {"mlp", {}}});
//   nn::get_partition_spec(tree::of(up))          // kernel: {{"data"}, {}}
//
// Rules hold on this thread while the scope lives. A name without a rule is an axis of the mesh.
// Source: flax/nnx/spmd.py and flax/core/spmd.py (0.12.8).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "strata/nn/state.h"

namespace strata::nn {

/// A logical axis, and the axes of the mesh along which it is cut: none, one, or several, the first
/// the major one.
struct AxisRule {
  std::string logical;
  std::vector<std::string> mesh;
};
/// Adds rules to those that hold, while it lives.
class LogicalAxisRules {
 public:
  /// Throws Error for one name with two meanings, among these and those that hold.
  explicit LogicalAxisRules(std::vector<AxisRule> rules);
  ~LogicalAxisRules();
  LogicalAxisRules(const LogicalAxisRules&) = delete;
  LogicalAxisRules& operator=(const LogicalAxisRules&) = delete;

 private:
  std::size_t before_;
};
/// The rules that hold on this thread.
const std::vector<AxisRule>& current_axis_rules();

/// For each dimension the axes of the mesh that cut it; empty: it is whole. Dimensions beyond the
/// list are whole.
using PartitionSpec = std::vector<std::vector<std::string>>;
/// The spec of a variable's axis names by the rules that hold.
PartitionSpec partition_spec(const Metadata& notes);
/// The specs of all leaves by path; without names an empty one. Throws Error, with the path, where
/// there are more names than dimensions, and where an axis of the mesh cuts two of them.
std::map<std::string, PartitionSpec> get_partition_spec(const tree::Tree& state);

/// The axes of a mesh of devices with their sizes, the major one first.
using Mesh = std::vector<std::pair<std::string, std::int64_t>>;
/// How an array is sharded over a mesh.
struct NamedSharding {
  Mesh mesh;
  PartitionSpec spec;
  bool operator==(const NamedSharding&) const = default;
};
/// How all leaves are sharded over a mesh, by path. Throws Error as get_partition_spec does, and,
/// with the path, for an axis that the mesh lacks, naming those it has.
std::map<std::string, NamedSharding> get_named_sharding(const tree::Tree& state, const Mesh& mesh);
/// What `make()` returns without values, and how its leaves are to be sharded over a mesh: what a
/// checkpoint is loaded into. Source: upstream's function of that name. Deviation: upstream puts
/// the shardings into the abstract arrays.
template <class F>
auto get_abstract_model(F make, const Mesh& mesh) {
  auto model = abstract(std::move(make));
  auto shardings = get_named_sharding(tree::of(model), mesh);
  return std::pair(std::move(model), std::move(shardings));
}

/// Variables with axis names get a further one at place `axis`, counted from the end where
/// negative; what is before it and had no name has none. For what vmap stacked.
template <class M>
M add_axis(M module, std::int64_t axis, const std::string& name);
/// Takes it away again. Throws Error where another name is at that place.
template <class M>
M remove_axis(M module, std::int64_t axis, const std::string& name);

namespace detail {
tree::Tree add_axis(const tree::Tree& state, std::int64_t axis, const std::string& name);
tree::Tree remove_axis(const tree::Tree& state, std::int64_t axis, const std::string& name);
}  // namespace detail
template <class M>
M add_axis(M module, std::int64_t axis, const std::string& name) {
  update(module, detail::add_axis(tree::of(module), axis, name));
  return module;
}
template <class M>
M remove_axis(M module, std::int64_t axis, const std::string& name) {
  update(module, detail::remove_axis(tree::of(module), axis, name));
  return module;
}

}  // namespace strata::nn
