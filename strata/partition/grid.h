// The devices of a program as a grid, and how one array is sharded over it.
//
//   Grid g({{"x", 2}, {"y", 4}});
//   Layout rows{{{0}, {}}};                       // dimension 0 is cut over x
//   local_shape(g, Shape{6, 5}, rows)             // 3x5
//
// Axes are atoms: a program that names parts of an axis gets one here for each part, so that every
// layout is a list of whole ones. Along a dimension of size n that is cut k times, tile i begins at
// i * ceil(n / k); the last tiles may be short or empty, and what a device holds beyond the array's
// end is anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/type/literal.h"

namespace strata::spmd {

/// Numbers of a grid's axes, the first one most significant.
using Axes = std::vector<int>;

/// An axis by its name (`x`, or `x:(1)2` for a part of one) and size.
struct Axis {
  std::string name;
  std::int64_t size = 1;
};

/// Which devices there are, as coordinates.
class Grid {
 public:
  Grid() = default;
  /// `devices` are the numbers of the devices in row-major order of the axes; empty: 0, 1, 2, ...
  explicit Grid(std::vector<Axis> axes, std::vector<std::int64_t> devices = {});

  /// All axes, major first.
  const std::vector<Axis>& axes() const { return axes_; }
  /// How many devices there are.
  std::int64_t devices() const { return static_cast<std::int64_t>(place_.size()); }
  /// The product of the axes' sizes: 1 for none.
  std::int64_t product(const Axes& axes) const;
  /// Which of product(axes) tiles a device holds: its coordinates on the axes as one number.
  std::int64_t tile(std::int64_t device, const Axes& axes) const;
  /// Devices that differ along `axes` alone, each group in the order of its tiles; groups in the
  /// order of their first device.
  std::vector<std::vector<std::int64_t>> groups(const Axes& axes) const;
  /// "x,y".
  std::string to_string(const Axes& axes) const;

 private:
  std::int64_t coordinate(std::int64_t device, int axis) const;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> place_;  // of each device in row-major order
};

/// Over which axes each dimension of an array is cut; axes that stand nowhere hold copies.
struct Layout {
  std::vector<Axes> dims;
  bool operator==(const Layout&) const = default;
  /// Nothing is cut.
  static Layout whole(int rank) { return {std::vector<Axes>(static_cast<std::size_t>(rank))}; }
  bool is_whole() const;
  bool uses(int axis) const;
};

/// "[{x}, {}, {y,z}]".
std::string to_string(const Grid& grid, const Layout& layout);
/// What each device holds: ceil(n / k) along each dimension.
Shape local_shape(const Grid& grid, const Shape& whole, const Layout& layout);
Type local_type(const Grid& grid, const Type& whole, const Layout& layout);
/// What `device` holds of an array. Elements beyond its end have all bits set, so that a program
/// that reads them shows it.
Literal part_of(const Grid& grid, const Literal& whole, const Layout& layout, std::int64_t device);
/// The array that devices hold in parts (one entry per device); of copies the first device's.
Literal assemble(const Grid& grid, const Type& whole, const Layout& layout,
                 const std::vector<Literal>& parts);
/// The first two devices that should hold copies of one part and do not, in words; empty when all
/// agree.
std::string disagreement(const Grid& grid, const Type& whole, const Layout& layout,
                         const std::vector<Literal>& parts);

}  // namespace strata::spmd
