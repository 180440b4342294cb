// Shardings as programs write them (Shardy's attributes), as values: axes and parts of axes, open
// and closed dimensions, priorities.
//
//   Meshes meshes(module);
//   Sharding s = parse_sharding(R"(#sdy.sharding<@m, [{"a", ?}, {"b":(1)2}]>)", type, meshes);
//   to_mesh(s, meshes).to_attribute()                            // the same text
//
// An axis of size n is the span [1, n) of its parts' numbers: `"a":(m)k` is the span from m to m k,
// so that the whole axis and its parts compare alike. Texts are read and printed by the room mesh.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/mesh/sharding.h"

namespace strata::spmd {

/// The meshes of a module by name; those that are written out inside a sharding too.
class Meshes {
 public:
  Meshes() = default;
  /// Throws strata::Error for texts that are no meshes.
  explicit Meshes(const ir::Module& module);
  /// Null when there is none of this name.
  const mesh::Mesh* find(std::string_view name) const;
  void add(std::string name, mesh::Mesh mesh) { by_name_[std::move(name)] = std::move(mesh); }
  /// In the order of their names.
  const std::map<std::string, mesh::Mesh, std::less<>>& all() const { return by_name_; }

 private:
  std::map<std::string, mesh::Mesh, std::less<>> by_name_;
};

/// An axis, or a part of it.
struct SubAxis {
  int axis = 0;
  std::int64_t begin = 1, end = 1;
  std::int64_t size() const { return end / begin; }
  bool overlaps(const SubAxis& o) const { return axis == o.axis && begin < o.end && o.begin < end; }
  bool contains(const SubAxis& o) const {
    return axis == o.axis && begin <= o.begin && o.end <= end;
  }
  bool is_prefix_of(const SubAxis& o) const {
    return axis == o.axis && begin == o.begin && end <= o.end;
  }
  auto operator<=>(const SubAxis&) const = default;
};
using SubAxes = std::vector<SubAxis>;

/// How one dimension is cut.
struct DimSharding {
  SubAxes axes;
  bool is_closed = false;  // whether propagation may not cut it further
  std::optional<std::int64_t> priority = std::nullopt;
  bool operator==(const DimSharding&) const = default;
};

/// How one value is cut.
struct Sharding {
  std::string mesh;  // its name; of one written out its text
  std::vector<DimSharding> dims;
  SubAxes replicated = {}, unreduced = {};
  mesh::ReductionKind reduction = mesh::ReductionKind::sum;  // of unreduced axes
  bool operator==(const Sharding&) const = default;
  /// No dimension is cut.
  bool is_empty() const;
};

/// Reads `#sdy.sharding<...>` of a value of that type. Meshes written out join `meshes`. Throws
/// strata::Error for other texts, unknown meshes and axes, another rank.
Sharding parse_sharding(std::string_view text, const Type& type, Meshes& meshes);
/// `#sdy.sharding_per_value<[<...>, ...]>`, one for each type.
std::vector<Sharding> parse_shardings(std::string_view text, const std::vector<Type>& types,
                                      Meshes& meshes);
/// The text of an attribute that is kept as text, as shardings are; null where there is none.
const std::string* text_of(const ir::Attrs& attrs, std::string_view name);
/// Axis names of `#sdy<manual_axes{"a", "b"}>`.
std::vector<std::string> parse_manual_axes(std::string_view text);
/// The same as the value of the room mesh, which prints.
mesh::TensorSharding to_mesh(const Sharding& sharding, const Meshes& meshes);

/// A part behind another of the same axis becomes one with it.
void append_merged(SubAxes& axes, const SubAxis& more);
/// The largest part at the beginning of `axis` that does not overlap `others`.
std::optional<SubAxis> prefix_without(SubAxis axis, const SubAxes& others);

}  // namespace strata::spmd
