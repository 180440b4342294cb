#include "strata/mesh/spec.h"

#include <fmt/format.h>

namespace strata::mesh {
namespace {

std::string names_text(const std::set<std::string>& names) {
  std::string out = "{";
  for (const std::string& n : names) out += fmt::format("{}'{}'", out.size() > 1 ? ", " : "", n);
  return out + "}";
}
std::string entry_text(const SpecEntry& e) {
  if (e.unconstrained) return "UNCONSTRAINED";
  if (e.axes.empty()) return e.tuple ? "()" : "None";
  if (!e.tuple && e.axes.size() == 1) return fmt::format("'{}'", e.axes[0]);
  std::string out = "(";
  for (std::size_t i = 0; i < e.axes.size(); ++i)
    out += fmt::format("{}'{}'", i > 0 ? ", " : "", e.axes[i]);
  return out + (e.axes.size() == 1 ? ",)" : ")");
}

void check(const Mesh& mesh, const PartitionSpec& spec) {
  std::set<std::string> seen;
  auto use = [&](const std::string& axis) {
    if (!mesh.abstract().find(axis))
      throw Error("NamedSharding", "axis '{}' of {} is not in {}", axis, spec.to_string(),
                  mesh.to_string());
    if (!seen.insert(axis).second)
      throw Error("NamedSharding", "axis '{}' stands twice in {}", axis, spec.to_string());
  };
  auto use_explicit = [&](const std::string& axis) {
    use(axis);
    if (mesh.axes()[*mesh.abstract().find(axis)].type != AxisType::Explicit)
      throw Error("NamedSharding", "unreduced or reduced axis '{}' of {} is not Explicit in {}",
                  axis, spec.to_string(), mesh.to_string());
  };
  bool any_auto = false;
  for (const MeshAxis& a : mesh.axes()) any_auto = any_auto || a.type == AxisType::Auto;
  for (const SpecEntry& e : spec.entries()) {
    if (e.unconstrained && !any_auto)
      throw Error("NamedSharding", "UNCONSTRAINED in {} needs an Auto axis in {}", spec.to_string(),
                  mesh.to_string());
    for (const std::string& axis : e.axes) use(axis);
  }
  for (const std::string& axis : spec.unreduced()) use_explicit(axis);
  for (const std::string& axis : spec.reduced()) use_explicit(axis);
}

}  // namespace

SpecEntry unconstrained() {
  SpecEntry out;
  out.unconstrained = true;
  return out;
}

PartitionSpec PartitionSpec::with_unreduced(std::set<std::string> axes) const {
  PartitionSpec out = *this;
  out.unreduced_ = std::move(axes);
  return out;
}
PartitionSpec PartitionSpec::with_reduced(std::set<std::string> axes) const {
  PartitionSpec out = *this;
  out.reduced_ = std::move(axes);
  return out;
}
PartitionSpec PartitionSpec::cotangent() const {
  return with_unreduced(reduced_).with_reduced(unreduced_);
}
std::string PartitionSpec::to_string() const {
  std::string out = "P(";
  for (std::size_t i = 0; i < entries_.size(); ++i)
    out += (i > 0 ? ", " : "") + entry_text(entries_[i]);
  bool sets = !unreduced_.empty() || !reduced_.empty();
  if (entries_.size() == 1 && !sets) out += ",";
  if (!unreduced_.empty())
    out += fmt::format("{}unreduced={}", out.size() > 2 ? ", " : "", names_text(unreduced_));
  if (!reduced_.empty())
    out += fmt::format("{}reduced={}", out.size() > 2 ? ", " : "", names_text(reduced_));
  return out + ")";
}

NamedSharding::NamedSharding(Mesh mesh, PartitionSpec spec, std::string memory_kind)
    : mesh_(std::move(mesh)), spec_(std::move(spec)), memory_kind_(std::move(memory_kind)) {
  check(mesh_, spec_);
}
TensorSharding NamedSharding::to_tensor_sharding(std::string mesh_name, std::size_t rank) const {
  if (spec_.entries().size() > rank)
    throw Error("NamedSharding", "{} has {} entries for an array of rank {}", spec_.to_string(),
                spec_.entries().size(), rank);
  TensorSharding out = TensorSharding::all_closed(std::move(mesh_name), rank);
  for (std::size_t i = 0; i < spec_.entries().size(); ++i) {
    const SpecEntry& e = spec_.entries()[i];
    out.dims[i].open = e.unconstrained;
    out.dims[i].axes.assign(e.axes.begin(), e.axes.end());
  }
  for (const MeshAxis& a : mesh_.axes())
    if (spec_.unreduced().count(a.name) != 0) out.unreduced.emplace_back(a.name);
  return out;
}
std::vector<std::int64_t> NamedSharding::shard_shape(const std::vector<std::int64_t>& shape) const {
  TensorSharding sharding = to_tensor_sharding("mesh", shape.size());
  std::vector<std::int64_t> out = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t pieces = sharding.dims[i].size(mesh_.abstract());
    if (shape[i] % pieces != 0)
      throw Error("NamedSharding",
                  "dimension {} of size {} cannot be cut into {} equal parts by {} "
                  "over {}",
                  i, shape[i], pieces, spec_.to_string(), mesh_.to_string());
    out[i] /= pieces;
  }
  return out;
}
std::vector<std::vector<Range>> NamedSharding::indices(
    const std::vector<std::int64_t>& shape) const {
  std::vector<std::int64_t> part = shard_shape(shape);
  TensorSharding sharding = to_tensor_sharding("mesh", shape.size());
  std::vector<std::vector<Range>> out;
  for (std::int64_t device = 0; device < mesh_.size(); ++device) {
    std::vector<Range>& ranges = out.emplace_back();
    std::vector<std::int64_t> tile = tile_of(sharding, mesh_.abstract(), device);
    for (std::size_t i = 0; i < part.size(); ++i)
      ranges.push_back({tile[i] * part[i], (tile[i] + 1) * part[i]});
  }
  return out;
}
bool NamedSharding::is_fully_replicated() const {
  for (const SpecEntry& e : spec_.entries())
    for (const std::string& axis : e.axes)
      if (mesh_.axis_size(axis) > 1) return false;
  return spec_.unreduced().empty();
}
bool NamedSharding::is_equivalent_to(const NamedSharding& other, std::size_t rank) const {
  if (mesh_.devices() != other.mesh_.devices() || memory_kind_ != other.memory_kind_ ||
      spec_.unreduced() != other.spec_.unreduced() || spec_.reduced() != other.spec_.reduced())
    return false;
  TensorSharding a = to_tensor_sharding("mesh", rank), b = other.to_tensor_sharding("mesh", rank);
  for (std::size_t i = 0; i < rank; ++i)
    if (a.dims[i].open != b.dims[i].open ||
        a.dims[i].size(mesh_.abstract()) != b.dims[i].size(other.mesh_.abstract()))
      return false;
  for (std::int64_t device = 0; device < mesh_.size(); ++device)
    if (tile_of(a, mesh_.abstract(), device) != tile_of(b, other.mesh_.abstract(), device))
      return false;
  return true;
}
std::string NamedSharding::to_string() const {
  return fmt::format("NamedSharding(mesh={}, spec={}, memory_kind={})", mesh_.to_string(),
                     spec_.to_string(), memory_kind_);
}

Result<PartitionSpec> to_spec(const TensorSharding& sharding) {
  std::vector<SpecEntry> entries;
  for (const DimSharding& dim : sharding.dims) {
    SpecEntry& e = entries.emplace_back();
    e.unconstrained = dim.open && dim.axes.empty();
    e.tuple = dim.axes.size() > 1;
    for (const AxisRef& a : dim.axes) {
      if (a.part)
        return Status(Code::unsupported, "a PartitionSpec cannot cut by {}, a part of an axis",
                      a.to_string());
      e.axes.push_back(a.name);
    }
  }
  std::set<std::string> unreduced;
  for (const AxisRef& a : sharding.unreduced) {
    if (a.part || sharding.unreduced_kind != ReductionKind::sum)
      return Status(Code::unsupported, "a PartitionSpec cannot say what is unreduced in {}",
                    sharding.to_string());
    unreduced.insert(a.name);
  }
  return PartitionSpec(std::move(entries)).with_unreduced(std::move(unreduced));
}

}  // namespace strata::mesh
