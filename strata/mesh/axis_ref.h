// An axis of a mesh, or a part of one.
//
// An axis of size n can be seen as [m, k, n / (m k)]; its middle is the part `"a":(m)k`, so that
// `"a":(1)2` is the major half. Source: AxisRefAttr of shardy/dialect/sdy/ir/attrs.td.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strata/mesh/mesh.h"

namespace strata::mesh {

/// A whole axis, or the part of `size` behind a part of `pre`.
struct AxisRef {
  /// Which part: the product of the sizes before it, and its own.
  struct Part {
    std::int64_t pre = 1, size = 1;
    auto operator<=>(const Part&) const = default;
  };
  std::string name;
  std::optional<Part> part;

  AxisRef() = default;
  AxisRef(std::string axis) : name(std::move(axis)) {}  // NOLINT: implicit by intent
  AxisRef(const char* axis) : name(axis) {}             // NOLINT
  AxisRef(std::string axis, std::int64_t pre, std::int64_t size)
      : name(std::move(axis)), part(Part{pre, size}) {}

  bool operator==(const AxisRef&) const = default;
  /// Number of devices along it. Throws Error for a name that is none of the mesh.
  std::int64_t size(const AbstractMesh& mesh) const;
  /// The product of the sizes before it: 1 for a whole axis.
  std::int64_t pre() const { return part ? part->pre : 1; }
  /// Its coordinate at place `i` of the mesh's row-major order.
  std::int64_t coordinate(const AbstractMesh& mesh, std::int64_t i) const;

  /// Whether the other is this one or a part of it: "a" contains "a":(2)2.
  bool contains(const AxisRef& other) const;
  /// Whether the other is this one, or this one with a part behind: "a":(1)2 of "a".
  bool prefix_of(const AxisRef& other) const;
  /// Whether some part is in both.
  bool overlaps(const AxisRef& other) const;
  /// The largest prefix of this one that does not overlap the other; this one where nothing does.
  std::optional<AxisRef> prefix_without(const AxisRef& other) const;
  /// The largest common prefix.
  std::optional<AxisRef> common_prefix(const AxisRef& other) const;
  /// Whether the other comes directly behind this one in the same axis.
  bool can_merge(const AxisRef& other) const;
  /// Both as one, which must be mergeable: "a":(1)2 and "a":(2)4 of 8 are "a".
  AxisRef merge(const AxisRef& other, const AbstractMesh& mesh) const;

  /// `"a"` or `"a":(1)2`.
  std::string to_string() const;
};

/// Whether `a` comes before `b`: by the mesh's order of axes, then by parts.
bool before(const AbstractMesh& mesh, const AxisRef& a, const AxisRef& b);
/// Neighbours that can be one made one: `"a":(1)2, "a":(2)2` becomes `"a":(1)4`.
std::vector<AxisRef> merged(std::vector<AxisRef> axes, const AbstractMesh& mesh);
/// The product of the sizes.
std::int64_t size_of(const std::vector<AxisRef>& axes, const AbstractMesh& mesh);

/// Reads `"a"` or `"a":(1)2`; a failure stays with the cursor.
AxisRef parse_axis_ref(Cursor& in);

}  // namespace strata::mesh
