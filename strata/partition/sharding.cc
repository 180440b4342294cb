#include "strata/partition/sharding.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/ir/declaration.h"
#include "strata/mesh/cursor.h"

namespace strata::spmd {
namespace {

SubAxis from_ref(const mesh::AxisRef& a, const mesh::Mesh& mesh) {
  auto axis = static_cast<int>(*mesh.abstract().find(a.name));
  return {axis, a.pre(), a.pre() * a.size(mesh.abstract())};
}
SubAxes from_refs(const std::vector<mesh::AxisRef>& all, const mesh::Mesh& mesh) {
  SubAxes out;
  for (const mesh::AxisRef& a : all) out.push_back(from_ref(a, mesh));
  return out;
}
std::vector<mesh::AxisRef> to_refs(const SubAxes& all, const mesh::Mesh& mesh) {
  std::vector<mesh::AxisRef> out;
  for (const SubAxis& a : all) {
    const mesh::MeshAxis& whole = mesh.axes()[static_cast<std::size_t>(a.axis)];
    if (a.begin == 1 && a.end == whole.size)
      out.emplace_back(whole.name);
    else
      out.emplace_back(whole.name, a.begin, a.size());
  }
  return out;
}

Sharding from_mesh(mesh::TensorSharding s, const Type& type, Meshes& meshes) {
  Sharding out;
  if (const mesh::Mesh* written = std::get_if<mesh::Mesh>(&s.mesh)) {
    out.mesh = "mesh" + written->to_shardy();
    meshes.add(out.mesh, *written);
  } else {
    out.mesh = std::get<std::string>(s.mesh);
  }
  const mesh::Mesh* mesh = meshes.find(out.mesh);
  if (mesh == nullptr) throw Error("sharding", "{} names no mesh of the module", s.to_string());
  std::vector<std::int64_t> sizes;
  if (type.is_tensor())
    for (const Dim& d : type.shape().dims()) sizes.push_back(d.is_static() ? d.size() : -1);
  if (mesh->is_maximal()) return out.dims.resize(sizes.size()), out;
  for (std::size_t d = 0; d < sizes.size() && d < s.dims.size(); ++d)
    if (sizes[d] == 0) s.dims[d].axes.clear();  // nothing to cut; JAX writes them so
  if (Status fits = mesh::verify(s, mesh->abstract(), sizes); !fits.ok())
    throw Error("sharding", "{}: {}", s.to_string(), fits.message());
  for (const mesh::DimSharding& d : s.dims)
    out.dims.push_back({from_refs(d.axes, *mesh), !d.open, d.priority});
  out.replicated = from_refs(s.replicated, *mesh);
  out.unreduced = from_refs(s.unreduced, *mesh);
  out.reduction = s.unreduced_kind;
  return out;
}

}  // namespace

Meshes::Meshes(const ir::Module& module) {
  for (const ir::Mesh& m : ir::meshes(module)) {
    Result<mesh::Mesh> mesh = mesh::parse_mesh(m.text);
    if (!mesh) throw Error("sdy.mesh", "@{}: {}", m.name, mesh.status().message());
    add(m.name, std::move(*mesh));
  }
}
const mesh::Mesh* Meshes::find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &it->second;
}

Sharding parse_sharding(std::string_view text, const Type& type, Meshes& meshes) {
  Result<mesh::TensorSharding> s = mesh::parse_sharding(text);
  if (!s) throw Error("sharding", "{}", s.status().message());
  return from_mesh(*s, type, meshes);
}
std::vector<Sharding> parse_shardings(std::string_view text, const std::vector<Type>& types,
                                      Meshes& meshes) {
  Result<std::vector<mesh::TensorSharding>> all = mesh::parse_shardings(text);
  if (!all) throw Error("sharding", "{}", all.status().message());
  if (all->size() != types.size())
    throw Error("sharding", "{} shardings for {} values in {}", all->size(), types.size(), text);
  std::vector<Sharding> out;
  for (std::size_t i = 0; i < types.size(); ++i)
    out.push_back(from_mesh((*all)[i], types[i], meshes));
  return out;
}
const std::string* text_of(const ir::Attrs& attrs, std::string_view name) {
  const ir::Attr* a = attrs.find(name);
  const ir::Opaque* o = a == nullptr ? nullptr : std::get_if<ir::Opaque>(a);
  return o == nullptr ? nullptr : &o->text;
}
std::vector<std::string> parse_manual_axes(std::string_view text) {
  mesh::Cursor in(text);
  std::vector<std::string> out;
  in.expect("#sdy<manual_axes");
  in.expect("{");
  if (!in.consume("}")) {
    do out.push_back(in.quoted());
    while (in.ok() && in.consume(","));
    in.expect("}");
  }
  in.expect(">");
  if (!in.ok()) throw Error("manual_axes", "{}", in.status().message());
  return out;
}

mesh::TensorSharding to_mesh(const Sharding& sharding, const Meshes& meshes) {
  const mesh::Mesh* mesh = meshes.find(sharding.mesh);
  STRATA_CHECK(mesh != nullptr, "no mesh @{}", sharding.mesh);
  mesh::TensorSharding out;
  if (sharding.mesh.compare(0, 5, "mesh<") == 0)
    out.mesh = *mesh;
  else
    out.mesh = sharding.mesh;
  for (const DimSharding& d : sharding.dims)
    out.dims.push_back({to_refs(d.axes, *mesh), !d.is_closed, d.priority});
  out.replicated = to_refs(sharding.replicated, *mesh);
  out.unreduced = to_refs(sharding.unreduced, *mesh);
  out.unreduced_kind = sharding.reduction;
  return out;
}

/// Whether both can be parts of one axis: each end divides the next.
static bool nest(const SubAxis& a, const SubAxis& b) {
  std::int64_t ends[] = {a.begin, a.end, b.begin, b.end};
  std::sort(std::begin(ends), std::end(ends));
  for (std::size_t i = 0; i + 1 < std::size(ends); ++i)
    if (ends[i + 1] % ends[i] != 0) return false;
  return true;
}

bool Sharding::is_empty() const {
  return std::all_of(dims.begin(), dims.end(), [](const DimSharding& d) { return d.axes.empty(); });
}

void append_merged(SubAxes& axes, const SubAxis& more) {
  if (!axes.empty() && axes.back().axis == more.axis && axes.back().end == more.begin)
    axes.back().end = more.end;
  else
    axes.push_back(more);
}

std::optional<SubAxis> prefix_without(SubAxis axis, const SubAxes& others) {
  for (const SubAxis& o : others) {
    if (o.axis == axis.axis && !nest(axis, o)) return std::nullopt;
    if (!axis.overlaps(o)) continue;
    if (axis.begin >= o.begin || o.begin % axis.begin != 0) return std::nullopt;
    axis.end = o.begin;
  }
  return axis;
}

}  // namespace strata::spmd
