#include "strata/nn/sharding/logical_sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "strata/base/error.h"

namespace strata::nn {
namespace {

thread_local const LogicalMesh* current = nullptr;

/// The first dimension of that name.
std::optional<std::size_t> place_of(const std::vector<std::string>& names,
                                    const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (name.empty() || at == names.end()) return {};
  return static_cast<std::size_t>(at - names.begin());
}

}  // namespace

LogicalMesh::LogicalMesh(mesh::Mesh mesh, std::vector<AxisRule> rules)
    : mesh_(std::move(mesh)), rules_(std::move(rules)) {}

mesh::PartitionSpec LogicalMesh::spec(const std::vector<std::string>& names) const {
  std::vector<std::optional<mesh::SpecEntry>> entries(names.size());
  std::set<std::string> used;
  for (const AxisRule& rule : rules_) {
    const std::optional<std::size_t> at = place_of(names, rule.logical);
    const bool is_free = std::none_of(rule.mesh.begin(), rule.mesh.end(),
                                      [&](const std::string& a) { return used.contains(a); });
    if (!at || entries[*at] || !is_free) continue;
    used.insert(rule.mesh.begin(), rule.mesh.end());
    mesh::SpecEntry& entry = entries[*at].emplace();
    for (const std::string& axis : rule.mesh)
      if (mesh_.abstract().find(axis) && mesh_.axis_size(axis) > 1) entry.axes.push_back(axis);
    entry.tuple = entry.axes.size() > 1;
  }
  std::vector<mesh::SpecEntry> out;
  for (std::optional<mesh::SpecEntry>& e : entries)
    out.push_back(std::move(e).value_or(mesh::SpecEntry()));
  while (!out.empty() && out.back().axes.empty()) out.pop_back();
  return mesh::PartitionSpec(std::move(out));
}

LogicalMeshScope::LogicalMeshScope(const LogicalMesh& mesh)
    : before_(std::exchange(current, &mesh)) {}
LogicalMeshScope::~LogicalMeshScope() { current = before_; }

const LogicalMesh* current_logical_mesh() { return current; }

Array with_logical_constraint(const Array& x, std::initializer_list<const char*> names) {
  if (current == nullptr) return x;
  const std::vector<std::string> all(names.begin(), names.end());
  if (static_cast<std::int64_t>(all.size()) != x.ndim())
    throw Error("with_logical_constraint", "{} has {} dimensions, got the names ({})",
                x.type().to_string(), x.ndim(), fmt::join(all, ", "));
  const mesh::PartitionSpec spec = current->spec(all);
  for (std::size_t d = 0; d < spec.entries().size(); ++d) {
    std::int64_t pieces = 1;
    for (const std::string& axis : spec.entries()[d].axes)
      pieces *= current->mesh().axis_size(axis);
    const std::int64_t size = x.shape(static_cast<std::int64_t>(d));
    if (size % pieces != 0)
      throw Error("with_logical_constraint",
                  "dimension {} ({}) of {} has size {}, which {} pieces do not divide: ({}) is {} "
                  "over {}",
                  d, all[d], x.type().to_string(), size, pieces, fmt::join(all, ", "),
                  spec.to_string(), current->mesh().to_string());
  }
  return lax::with_sharding_constraint(Operand(x), mesh::NamedSharding(current->mesh(), spec));
}

}  // namespace strata::nn
