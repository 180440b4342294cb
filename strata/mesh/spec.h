// How an array is cut over a mesh, as JAX writes it.
//
//   mesh::Mesh m({{"x", 2}, {"y", 4}});
//   mesh::NamedSharding s(m, {"x", nullptr});   // rows over x, columns whole
//   s.shard_shape({8, 3})                       // {4, 3}
//
// Sources: jax/_src/partition_spec.py, named_sharding.py. Deviation: `unreduced` is a sum; what
// is unreduced by another kind is written as a TensorSharding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "strata/mesh/mesh.h"
#include "strata/mesh/sharding.h"

namespace strata::mesh {

/// What one dimension is cut by: nothing (`nullptr`), an axis, several from major to minor, or
/// whatever the compiler chooses (`kUnconstrained`).
struct SpecEntry {
  std::vector<std::string> axes;
  bool unconstrained = false;
  bool tuple = false;  // whether it was written as a list, which only printing shows

  SpecEntry() = default;
  SpecEntry(std::nullptr_t) {}                            // NOLINT: implicit by intent
  SpecEntry(const char* axis) : axes{axis} {}             // NOLINT
  SpecEntry(std::string axis) : axes{std::move(axis)} {}  // NOLINT
  SpecEntry(std::initializer_list<const char*> list)
      : axes(list.begin(), list.end()), tuple(true) {}
  bool operator==(const SpecEntry& other) const {
    return axes == other.axes && unconstrained == other.unconstrained;
  }
};
/// A dimension that the compiler may cut as it likes.
SpecEntry unconstrained();

/// Entries by dimension; dimensions beyond the last are whole.
class PartitionSpec {
 public:
  PartitionSpec() = default;
  PartitionSpec(std::initializer_list<SpecEntry> entries) : entries_(entries) {}
  explicit PartitionSpec(std::vector<SpecEntry> entries) : entries_(std::move(entries)) {}

  /// The same with axes along which every device holds an addend.
  PartitionSpec with_unreduced(std::set<std::string> axes) const;
  /// The same with axes whose cotangent is unreduced.
  PartitionSpec with_reduced(std::set<std::string> axes) const;
  /// The spec of a value's cotangent: unreduced and reduced change places.
  PartitionSpec cotangent() const;

  const std::vector<SpecEntry>& entries() const { return entries_; }
  const std::set<std::string>& unreduced() const { return unreduced_; }
  const std::set<std::string>& reduced() const { return reduced_; }
  /// JAX's `repr`: "P('x', None, ('y', 'z'))".
  std::string to_string() const;
  bool operator==(const PartitionSpec&) const = default;

 private:
  std::vector<SpecEntry> entries_;
  std::set<std::string> unreduced_, reduced_;
};
/// JAX's short name.
using P = PartitionSpec;

/// A half-open range of a dimension.
struct Range {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

/// A mesh, how an array is cut over it, and the kind of memory that holds it.
class NamedSharding {
 public:
  /// Throws Error for an axis that the mesh has not, one that stands twice, `unconstrained`
  /// without an Auto axis, or an unreduced or reduced axis that is not Explicit.
  NamedSharding(Mesh mesh, PartitionSpec spec, std::string memory_kind = "device");

  const Mesh& mesh() const { return mesh_; }
  const PartitionSpec& spec() const { return spec_; }
  const std::string& memory_kind() const { return memory_kind_; }

  /// The shape of the part of each device. Throws Error when the spec has more entries than the
  /// shape, or naming the dimension that does not divide.
  std::vector<std::int64_t> shard_shape(const std::vector<std::int64_t>& shape) const;
  /// For each device of the mesh in its order, which range of each dimension it holds. Throws as
  /// shard_shape.
  std::vector<std::vector<Range>> indices(const std::vector<std::int64_t>& shape) const;
  /// Whether every device holds all.
  bool is_fully_replicated() const;
  /// Whether both put the same part of any array of that rank on each device.
  bool is_equivalent_to(const NamedSharding& other, std::size_t rank) const;
  /// Shardy's value: dimensions closed, or open where unconstrained. Axes of size 1 are kept.
  TensorSharding to_tensor_sharding(std::string mesh_name, std::size_t rank) const;
  /// JAX's `repr`.
  std::string to_string() const;
  bool operator==(const NamedSharding&) const = default;

 private:
  Mesh mesh_;
  PartitionSpec spec_;
  std::string memory_kind_;
};

/// The spec that says what a TensorSharding says. Codes: unsupported where it cuts by a part of an
/// axis, or has unreduced axes of a kind other than sum.
Result<PartitionSpec> to_spec(const TensorSharding& sharding);

}  // namespace strata::mesh
