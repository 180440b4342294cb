#include "strata/mesh/axis_ref.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "strata/base/check.h"
#include "strata/mesh/cursor.h"

namespace strata::mesh {
namespace {

// The end of a part: where the next one begins. A whole axis ends behind every part.
constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();
std::int64_t end_of(const AxisRef& a) { return a.part ? a.part->pre * a.part->size : kWhole; }

AxisRef from_to(const std::string& name, std::int64_t pre, std::int64_t end) {
  if (end == kWhole) {
    STRATA_CHECK(pre == 1, "the end of an axis alone has no size without its mesh");
    return AxisRef(name);
  }
  return AxisRef(name, pre, end / pre);
}

}  // namespace

std::int64_t AxisRef::size(const AbstractMesh& mesh) const {
  std::int64_t whole = mesh.axis_size(name);
  return part ? part->size : whole;
}
std::int64_t AxisRef::coordinate(const AbstractMesh& mesh, std::int64_t i) const {
  auto axis = mesh.find(name);
  if (!axis) throw Error("Mesh", "no axis '{}' in {}", name, mesh.to_string());
  std::int64_t at = mesh.coordinates(i)[*axis];
  if (!part) return at;
  std::int64_t behind = mesh.axes()[*axis].size / (part->pre * part->size);
  return at / behind % part->size;
}
bool AxisRef::contains(const AxisRef& other) const {
  if (name != other.name) return false;
  if (!part) return true;
  return other.part && pre() <= other.pre() && end_of(*this) >= end_of(other) &&
         other.pre() % pre() == 0 && end_of(*this) % end_of(other) == 0;
}
bool AxisRef::prefix_of(const AxisRef& other) const {
  return other.contains(*this) && pre() == other.pre();
}
bool AxisRef::overlaps(const AxisRef& other) const {
  return name == other.name && pre() < end_of(other) && other.pre() < end_of(*this);
}
std::optional<AxisRef> AxisRef::prefix_without(const AxisRef& other) const {
  if (!overlaps(other)) return *this;
  if (pre() >= other.pre() || other.pre() % pre() != 0) return {};
  return from_to(name, pre(), other.pre());
}
std::optional<AxisRef> AxisRef::common_prefix(const AxisRef& other) const {
  if (name != other.name || pre() != other.pre()) return {};
  if (prefix_of(other)) return *this;
  if (other.prefix_of(*this)) return other;
  // Two parts that begin together and end apart: what divides both.
  std::int64_t both = std::gcd(part->size, other.part->size);
  if (both == 1) return {};
  return AxisRef(name, pre(), both);
}
bool AxisRef::can_merge(const AxisRef& other) const {
  return name == other.name && part && other.part && end_of(*this) == other.pre();
}
AxisRef AxisRef::merge(const AxisRef& other, const AbstractMesh& mesh) const {
  STRATA_CHECK(can_merge(other), "parts of a mesh's axis that are no neighbours");
  std::int64_t size = part->size * other.part->size;
  if (pre() == 1 && size == mesh.axis_size(name)) return AxisRef(name);
  return AxisRef(name, pre(), size);
}
std::string AxisRef::to_string() const {
  return part ? fmt::format("{}:({}){}", quote(name), part->pre, part->size) : quote(name);
}

bool before(const AbstractMesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (a.name != b.name) {
    auto i = mesh.find(a.name), j = mesh.find(b.name);
    if (i != j) return i && (!j || *i < *j);
    return a.name < b.name;  // of neither
  }
  if (a.part && b.part) return *a.part < *b.part;
  return a.part && !b.part;  // Shardy's order: a part before its axis
}
std::vector<AxisRef> merged(std::vector<AxisRef> axes, const AbstractMesh& mesh) {
  std::vector<AxisRef> out;
  for (AxisRef& a : axes) {
    if (!out.empty() && out.back().can_merge(a))
      out.back() = out.back().merge(a, mesh);
    else
      out.push_back(std::move(a));
  }
  return out;
}
std::int64_t size_of(const std::vector<AxisRef>& axes, const AbstractMesh& mesh) {
  std::int64_t out = 1;
  for (const AxisRef& a : axes) out *= a.size(mesh);
  return out;
}

AxisRef parse_axis_ref(Cursor& in) {
  AxisRef out(in.quoted());
  if (in.consume(":")) {
    AxisRef::Part part;
    in.expect("(");
    part.pre = in.number();
    in.expect(")");
    part.size = in.number();
    constexpr std::int64_t most = std::int64_t{1} << 31;  // so that their product is a number
    if (in.ok() && (part.pre < 1 || part.pre > most))
      in.fail(fmt::format("sub-axis pre-size must be at least 1, got {}", part.pre));
    if (in.ok() && (part.size < 2 || part.size > most))
      in.fail(fmt::format("sub-axis size must be greater than 1, got {}", part.size));
    out.part = part;
  }
  return out;
}

}  // namespace strata::mesh
