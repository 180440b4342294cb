#include "strata/api/sharding/axis_types.h"

#include <algorithm>
#include <atomic>
#include <sstream>
#include <utility>

namespace strata::internal {
namespace {

using mesh::AxisType;
using mesh::Mesh;

std::atomic<bool> met{false};

Mesh with_letters(const Mesh& mesh, const std::string& types) {
  std::vector<mesh::MeshAxis> axes = mesh.axes();
  for (std::size_t i = 0; i < std::min(axes.size(), types.size()); ++i)
    axes[i].type = types[i] == 'E'   ? AxisType::Explicit
                   : types[i] == 'M' ? AxisType::Manual
                                     : AxisType::Auto;
  return Mesh(std::move(axes), mesh.devices());
}

}  // namespace

std::string letters(const Mesh& mesh) {
  std::string out;
  for (const mesh::MeshAxis& a : mesh.axes()) out += mesh::name_of(a.type)[0];
  return out;
}

bool is_typed(const ir::Op& op) { return op.name() == kConstraint && op.attrs.has(kAxisTypes); }
Said said_by(const ir::Op& op) {
  const strata::Result<mesh::TensorSharding> sharding =
      mesh::parse_sharding(op.attrs.get<ir::Opaque>("sharding").text);
  Said out;
  const Mesh* written = sharding ? std::get_if<Mesh>(&sharding->mesh) : nullptr;
  if (written == nullptr) return out;
  out.typed.mesh = with_letters(*written, op.attrs.get<std::string>(kAxisTypes));
  for (const mesh::DimSharding& d : sharding->dims) {
    auto& axes = out.typed.axes.emplace_back();
    for (const mesh::AxisRef& a : d.axes) axes.push_back(a.name);
    out.open.push_back(d.open && axes.empty());
  }
  for (const mesh::AxisRef& a : sharding->unreduced) out.typed.sums.unreduced.insert(a.name);
  if (op.attrs.has(kReduced)) {
    std::istringstream names(op.attrs.get<std::string>(kReduced));
    for (std::string name; std::getline(names, name, ',');) out.typed.sums.reduced.insert(name);
  }
  return out;
}

bool has_explicit() { return met.load(std::memory_order_relaxed); }
bool is_explicit(const Mesh& mesh) {
  return std::any_of(mesh.axes().begin(), mesh.axes().end(),
                     [](const mesh::MeshAxis& a) { return a.type == AxisType::Explicit; });
}
void use_explicit() { met.store(true, std::memory_order_relaxed); }
void use_explicit(const Mesh& mesh) {
  if (is_explicit(mesh)) use_explicit();
}
std::optional<Mesh> typed_mesh(const ir::Block& block) {
  std::optional<Mesh> out;
  ir::walk(block, [&](const ir::Op& op) {
    if (!out && is_typed(op)) out = said_by(op).typed.mesh;
  });
  return out;
}

}  // namespace strata::internal
