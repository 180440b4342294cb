// Meshes: devices in a grid whose axes have names.
//
//   mesh::Mesh m({{"data", 2}, {"model", 4}});          // devices 0 to 7, row by row
//   m.to_shardy()                                       // <["data"=2, "model"=4]>
//   m.to_string()      // Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto))
//
// Sources: jax/_src/mesh.py; MeshAttr of shardy/dialect/sdy/ir/attrs.td.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::mesh {

/// Who decides how values are cut along an axis: the compiler, the types of the program, or the
/// program itself by local shapes.
enum class AxisType { Auto, Explicit, Manual };
/// "Auto", "Explicit", "Manual".
std::string_view name_of(AxisType type);

/// A named axis of `size` devices.
struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  AxisType type = AxisType::Auto;
  bool operator==(const MeshAxis&) const = default;
};

/// Axes without devices. Immutable; a cheap value to compare.
class AbstractMesh {
 public:
  AbstractMesh() = default;
  /// Throws Error for an empty or repeated name, a size below 1, more than 2^40 devices.
  explicit AbstractMesh(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  /// Number of devices: the product of all sizes, 1 without axes.
  std::int64_t size() const { return size_; }
  /// Whether there are no axes.
  bool empty() const { return axes_.empty(); }
  /// The position of the axis of that name, major first.
  std::optional<std::size_t> find(std::string_view name) const;
  /// The size of an axis. Throws Error for a name that is none of the mesh.
  std::int64_t axis_size(std::string_view name) const;
  /// The coordinates of place `i` of the row-major order, one for each axis.
  std::vector<std::int64_t> coordinates(std::int64_t i) const;
  /// "AbstractMesh('x': 2, 'y': 4, axis_types=(Auto, Auto))".
  std::string to_string() const;
  bool operator==(const AbstractMesh&) const = default;

 private:
  std::vector<MeshAxis> axes_;
  std::int64_t size_ = 1;
};

/// Axes over devices, which are numbers here. Without axes it holds one device, or none: Shardy's
/// placeholder that propagation may replace.
class Mesh {
 public:
  /// The placeholder, `<[]>`.
  Mesh() = default;
  /// Over devices 0, 1, 2 ... in row-major order. Throws as AbstractMesh.
  explicit Mesh(std::vector<MeshAxis> axes);
  /// Over these devices in row-major order. Throws Error when their number is not the product of
  /// the sizes, for a negative number, or one that comes twice.
  Mesh(std::vector<MeshAxis> axes, std::vector<std::int64_t> devices);
  /// One device without axes: Shardy's "maximal" mesh.
  static Mesh of_device(std::int64_t device) { return Mesh({}, {device}); }

  const AbstractMesh& abstract() const { return abstract_; }
  const std::vector<MeshAxis>& axes() const { return abstract_.axes(); }
  std::int64_t size() const { return abstract_.size(); }
  std::int64_t axis_size(std::string_view name) const { return abstract_.axis_size(name); }
  /// Numbers of the devices in row-major order; empty for the placeholder.
  const std::vector<std::int64_t>& devices() const { return devices_; }
  /// Whether it has neither axes nor a device.
  bool is_placeholder() const { return devices_.empty(); }
  /// Whether it is one device without axes.
  bool is_maximal() const { return axes().empty() && devices_.size() == 1; }
  /// Whether the devices are 0, 1, 2 ... in order.
  bool is_iota() const;

  /// Shardy's text: `<["a"=2, "b"=4]>`, with `device_ids=[...]` where the order is another.
  std::string to_shardy() const;
  /// JAX's `str`: "Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))".
  std::string to_string() const;
  /// JAX's `repr`: "Mesh(axis_sizes=(2, 4), axis_names=('x', 'y'), axis_types=(Auto, Auto))".
  std::string repr() const;
  bool operator==(const Mesh&) const = default;

 private:
  AbstractMesh abstract_;
  std::vector<std::int64_t> devices_;
};

class Cursor;
/// Reads Shardy's text. Codes: invalid with the place for what is none, for device ids that are not
/// a permutation of 0 to size - 1 (but for one device without axes) or that are the order itself,
/// which Shardy wants left out.
Result<Mesh> parse_mesh(std::string_view text);
/// The same inside a longer text; a failure stays with the cursor.
std::optional<Mesh> parse_mesh(Cursor& in);

}  // namespace strata::mesh
