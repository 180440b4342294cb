// How one tensor is cut over a mesh, as Shardy writes it.
//
//   #sdy.sharding<@mesh, [{"data"}, {"model":(1)2, ?}p1], replicated={"model":(2)2}>
//
// Each dimension lists axes from major to minor. A closed dimension may not be cut further, an open
// one (`?`) may. `replicated` axes may not be used for this tensor; along `unreduced` axes every
// device holds an addend. All other axes hold copies. Source: TensorShardingAttr of
// shardy/dialect/sdy/ir/attrs.td, verifiers.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strata/base/result.h"
#include "strata/mesh/axis_ref.h"
#include "strata/mesh/mesh.h"

namespace strata::mesh {

/// How one dimension is cut.
struct DimSharding {
  std::vector<AxisRef> axes;             // major to minor
  bool open = false;                     // whether it may be cut further
  std::optional<std::int64_t> priority;  // of the user's, 0 first; none counts as 0

  /// Number of pieces.
  std::int64_t size(const AbstractMesh& mesh) const { return size_of(axes, mesh); }
  /// `{"a", ?}p1`.
  std::string to_string() const;
  bool operator==(const DimSharding&) const = default;
};

/// What the addends along unreduced axes are combined by.
enum class ReductionKind { sum, max, min };

/// How a tensor is cut: `mesh` is a name of the module's, or the mesh itself.
struct TensorSharding {
  std::variant<std::string, Mesh> mesh;
  std::vector<DimSharding> dims;
  std::vector<AxisRef> replicated, unreduced;
  ReductionKind unreduced_kind = ReductionKind::sum;

  /// A tensor of `rank` dimensions without any constraint: all open.
  static TensorSharding all_open(std::string mesh, std::size_t rank);
  /// One that is whole on every device and stays so: all closed.
  static TensorSharding all_closed(std::string mesh, std::size_t rank);

  std::size_t rank() const { return dims.size(); }
  /// The mesh's name; empty for one that is written out.
  std::string mesh_name() const;
  /// Whether no dimension is cut.
  bool is_fully_replicated() const;
  /// Whether the axis or a part of it stands anywhere.
  bool binds(std::string_view axis) const;
  /// `<@mesh, [{"a"}, {}]>`.
  std::string to_string() const;
  /// `#sdy.sharding<@mesh, [{"a"}, {}]>`.
  std::string to_attribute() const { return "#sdy.sharding" + to_string(); }
  bool operator==(const TensorSharding&) const = default;
};

/// Reads `<@mesh, [...]>` or `#sdy.sharding<@mesh, [...]>`. Codes: invalid, with the place.
Result<TensorSharding> parse_sharding(std::string_view text);
/// The same inside a longer text, without `#sdy.sharding`; a failure stays with the cursor.
TensorSharding parse_sharding(Cursor& in);
/// Reads `[<@mesh, [...]>, ...]`, with or without `#sdy.sharding_per_value<` around it.
Result<std::vector<TensorSharding>> parse_shardings(std::string_view text);
/// `#sdy.sharding_per_value<[<@mesh, [...]>, ...]>`.
std::string per_value_attribute(const std::vector<TensorSharding>& shardings);

/// Whether the sharding fits the mesh and a tensor of that shape: axes exist and overlap nowhere,
/// neighbours could not be one, `replicated` and `unreduced` are in the mesh's order, the rank is
/// the tensor's. A size below 0 is unknown. With `divides`, pieces must be of equal size. Shardy's
/// own words in the message.
Status verify(const TensorSharding& sharding, const AbstractMesh& mesh,
              std::span<const std::int64_t> shape, bool divides = false);

/// The shape of each piece when all are of equal size. Throws Error naming the dimension that its
/// number of pieces does not divide.
std::vector<std::int64_t> local_shape(const TensorSharding& sharding, const AbstractMesh& mesh,
                                      std::span<const std::int64_t> shape);
/// Which piece of each dimension place `i` of the mesh's row-major order holds.
std::vector<std::int64_t> tile_of(const TensorSharding& sharding, const AbstractMesh& mesh,
                                  std::int64_t i);

}  // namespace strata::mesh
