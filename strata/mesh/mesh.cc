#include "strata/mesh/mesh.h"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "strata/mesh/cursor.h"

namespace strata::mesh {
namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 40;
// Device lists are written out, so what is read must not make one that the text did not pay for.
constexpr std::int64_t kMostListed = std::int64_t{1} << 24;

/// JAX's tuple: "('x', 'y')", "('x',)", "()".
template <class F>
std::string tuple_text(const std::vector<MeshAxis>& axes, F of) {
  std::string out = "(";
  for (std::size_t i = 0; i < axes.size(); ++i) out += (i > 0 ? ", " : "") + of(axes[i]);
  return out + (axes.size() == 1 ? ",)" : ")");
}
std::string types_text(const std::vector<MeshAxis>& axes) {
  return tuple_text(axes, [](const MeshAxis& a) { return std::string(name_of(a.type)); });
}
std::string short_text(const std::vector<MeshAxis>& axes) {
  if (axes.empty()) return "";
  std::string out;
  for (const MeshAxis& a : axes) out += fmt::format("'{}': {}, ", a.name, a.size);
  return out + "axis_types=" + types_text(axes);
}
std::vector<std::int64_t> iota(std::int64_t n) {
  if (n > kMostListed)
    throw Error("Mesh", "{} devices are more than the {} that can be listed", n, kMostListed);
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

std::string_view name_of(AxisType type) {
  switch (type) {
    case AxisType::Auto: return "Auto";
    case AxisType::Explicit: return "Explicit";
    case AxisType::Manual: return "Manual";
  }
  return "?";
}

AbstractMesh::AbstractMesh(std::vector<MeshAxis> axes) : axes_(std::move(axes)) {
  std::set<std::string_view> seen;
  for (const MeshAxis& a : axes_) {
    if (a.name.empty()) throw Error("Mesh", "an axis of size {} has no name", a.size);
    if (a.size < 1) throw Error("Mesh", "axis '{}' has size {}, not at least 1", a.name, a.size);
    if (!seen.insert(a.name).second) throw Error("Mesh", "axis '{}' stands twice", a.name);
    if (size_ > kMostDevices / a.size)
      throw Error("Mesh", "axis '{}' of size {} makes more than {} devices", a.name, a.size,
                  kMostDevices);
    size_ *= a.size;
  }
}
std::optional<std::size_t> AbstractMesh::find(std::string_view name) const {
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].name == name) return i;
  return {};
}
std::int64_t AbstractMesh::axis_size(std::string_view name) const {
  if (auto i = find(name)) return axes_[*i].size;
  throw Error("Mesh", "no axis '{}' in {}", name, to_string());
}
std::vector<std::int64_t> AbstractMesh::coordinates(std::int64_t place) const {
  if (place < 0 || place >= size_)
    throw Error("Mesh", "no place {} among {} devices", place, size_);
  std::vector<std::int64_t> out(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    out[i] = place % axes_[i].size;
    place /= axes_[i].size;
  }
  return out;
}
std::string AbstractMesh::to_string() const {
  return fmt::format("AbstractMesh({})", short_text(axes_));
}

Mesh::Mesh(std::vector<MeshAxis> axes)
    : abstract_(std::move(axes)), devices_(iota(abstract_.size())) {}
Mesh::Mesh(std::vector<MeshAxis> axes, std::vector<std::int64_t> devices)
    : abstract_(std::move(axes)), devices_(std::move(devices)) {
  if (static_cast<std::int64_t>(devices_.size()) != abstract_.size())
    throw Error("Mesh", "{} devices for axes whose sizes make {}", devices_.size(),
                abstract_.size());
  std::set<std::int64_t> seen;
  for (std::int64_t d : devices_) {
    if (d < 0) throw Error("Mesh", "a device has number {}", d);
    if (!seen.insert(d).second) throw Error("Mesh", "device {} stands twice", d);
  }
}
bool Mesh::is_iota() const {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (devices_[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}
std::string Mesh::to_shardy() const {
  std::string out = "<[";
  for (std::size_t i = 0; i < axes().size(); ++i)
    out += fmt::format("{}{}={}", i > 0 ? ", " : "", quote(axes()[i].name), axes()[i].size);
  out += "]";
  if (is_maximal() || !is_iota())
    out += fmt::format(", device_ids=[{}]", fmt::join(devices_, ", "));
  return out + ">";
}
std::string Mesh::to_string() const { return fmt::format("Mesh({})", short_text(axes())); }
std::string Mesh::repr() const {
  return fmt::format(
      "Mesh(axis_sizes={}, axis_names={}, axis_types={})",
      tuple_text(axes(), [](const MeshAxis& a) { return fmt::format("{}", a.size); }),
      tuple_text(axes(), [](const MeshAxis& a) { return fmt::format("'{}'", a.name); }),
      types_text(axes()));
}

std::optional<Mesh> parse_mesh(Cursor& in) {
  std::vector<MeshAxis> axes;
  std::vector<std::int64_t> devices;
  bool listed = false;
  in.expect("<");
  in.expect("[");
  if (!in.consume("]")) {
    do {
      MeshAxis axis;
      axis.name = in.quoted();
      in.expect("=");
      axis.size = in.number();
      axes.push_back(axis);
    } while (in.ok() && in.consume(","));
    in.expect("]");
  }
  if (in.consume(",")) {
    listed = true;
    in.expect("device_ids");
    in.expect("=");
    in.expect("[");
    do devices.push_back(in.number());
    while (in.ok() && in.consume(","));
    in.expect("]");
  }
  in.expect(">");
  if (!in.ok()) return {};
  if (axes.empty() && !listed) return Mesh();
  try {
    if (!listed) return Mesh(std::move(axes));
    Mesh out(std::move(axes), std::move(devices));
    if (out.is_maximal()) return out;
    if (out.is_iota()) return in.fail("device_ids that are the order itself"), std::nullopt;
    for (std::int64_t d : out.devices())
      if (d >= out.size())
        return in.fail(fmt::format("device {} of a mesh of {}", d, out.size())), std::nullopt;
    return out;
  } catch (const Error& error) {
    in.fail(error.message());
    return {};
  }
}
Result<Mesh> parse_mesh(std::string_view text) {
  Cursor in(text);
  std::optional<Mesh> out = parse_mesh(in);
  if (in.ok() && !in.at_end()) in.fail("something follows the mesh");
  if (!in.ok()) return in.status();
  return *std::move(out);
}

}  // namespace strata::mesh
