#include "strata/partition/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "strata/base/check.h"
#include "strata/op/rules.h"

namespace strata::spmd {

Grid::Grid(std::vector<Axis> axes, std::vector<std::int64_t> devices) : axes_(std::move(axes)) {
  std::int64_t count = 1;
  for (const Axis& a : axes_) count *= a.size;
  place_.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t device = devices.empty() ? i : devices[static_cast<std::size_t>(i)];
    STRATA_CHECK(device >= 0 && device < count, "device {} of {}", device, count);
    place_[static_cast<std::size_t>(device)] = i;
  }
}

std::int64_t Grid::product(const Axes& axes) const {
  std::int64_t out = 1;
  for (int a : axes) out *= axes_[static_cast<std::size_t>(a)].size;
  return out;
}

std::int64_t Grid::coordinate(std::int64_t device, int axis) const {
  std::int64_t rest = place_[static_cast<std::size_t>(device)];
  for (std::size_t a = axes_.size(); --a > static_cast<std::size_t>(axis);) rest /= axes_[a].size;
  return rest % axes_[static_cast<std::size_t>(axis)].size;
}

std::int64_t Grid::tile(std::int64_t device, const Axes& axes) const {
  std::int64_t out = 0;
  for (int a : axes) out = out * axes_[static_cast<std::size_t>(a)].size + coordinate(device, a);
  return out;
}

std::vector<std::vector<std::int64_t>> Grid::groups(const Axes& axes) const {
  Axes others;
  for (int a = 0; a < static_cast<int>(axes_.size()); ++a)
    if (std::count(axes.begin(), axes.end(), a) == 0) others.push_back(a);
  std::map<std::int64_t, std::vector<std::int64_t>> by_rest;
  for (std::int64_t d = 0; d < devices(); ++d) by_rest[tile(d, others)].push_back(d);
  std::vector<std::vector<std::int64_t>> out;
  for (auto& [rest, group] : by_rest) {
    std::sort(group.begin(), group.end(),
              [&](std::int64_t a, std::int64_t b) { return tile(a, axes) < tile(b, axes); });
    out.push_back(std::move(group));
  }
  return out;
}

std::string Grid::to_string(const Axes& axes) const {
  std::string out;
  for (int a : axes) out += (out.empty() ? "" : ",") + axes_[static_cast<std::size_t>(a)].name;
  return out;
}

bool Layout::is_whole() const {
  return std::all_of(dims.begin(), dims.end(), [](const Axes& a) { return a.empty(); });
}
bool Layout::uses(int axis) const {
  return std::any_of(dims.begin(), dims.end(),
                     [&](const Axes& a) { return std::count(a.begin(), a.end(), axis) > 0; });
}

std::string to_string(const Grid& grid, const Layout& layout) {
  std::string out;
  for (const Axes& a : layout.dims)
    out += fmt::format("{}{{{}}}", out.empty() ? "" : ", ", grid.to_string(a));
  return "[" + out + "]";
}

Shape local_shape(const Grid& grid, const Shape& whole, const Layout& layout) {
  std::vector<std::int64_t> sizes = whole.sizes();
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    std::int64_t k = grid.product(layout.dims[d]);
    sizes[d] = (sizes[d] + k - 1) / k;
  }
  return Shape::of(sizes);
}

Type local_type(const Grid& grid, const Type& whole, const Layout& layout) {
  if (!whole.is_tensor() || layout.is_whole()) return whole;
  return whole.with(local_shape(grid, whole.shape(), layout));
}

namespace {

/// Calls f(element of the whole or -1, element of the part) for all elements of a device's part.
template <class F>
void each_element(const Grid& grid, const Type& whole, const Layout& layout, std::int64_t device,
                  F&& f) {
  Type part = local_type(grid, whole, layout);
  std::vector<std::int64_t> sizes = whole.shape().sizes(), strides = whole.shape().strides();
  std::vector<std::int64_t> start;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    start.push_back(grid.tile(device, layout.dims[d]) * part.shape()[static_cast<int>(d)]);
  op::for_each_index(part.shape(), [&](std::span<const std::int64_t> index, std::int64_t to) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < index.size() && from >= 0; ++d)
      from = start[d] + index[d] < sizes[d] ? from + (start[d] + index[d]) * strides[d] : -1;
    f(from, to);
  });
}

}  // namespace

Literal part_of(const Grid& grid, const Literal& whole, const Layout& layout, std::int64_t device) {
  if (!whole.type().is_tensor()) return whole;
  Literal out(local_type(grid, whole.type(), layout));
  std::size_t width = byte_width(whole.dtype());
  each_element(grid, whole.type(), layout, device, [&](std::int64_t from, std::int64_t to) {
    if (from >= 0)
      op::copy_element(whole, from, out, to);
    else  // a boolean has one bit
      std::memset(out.mutable_data() + static_cast<std::size_t>(to) * width,
                  whole.dtype() == DType::i1 ? 1 : 0xff, width);
  });
  return out;
}

Literal assemble(const Grid& grid, const Type& whole, const Layout& layout,
                 const std::vector<Literal>& parts) {
  if (!whole.is_tensor()) return parts.front();
  Literal out(whole);
  for (std::int64_t device = grid.devices(); device-- > 0;)
    each_element(grid, whole, layout, device, [&](std::int64_t from, std::int64_t to) {
      if (from >= 0) op::copy_element(parts[static_cast<std::size_t>(device)], to, out, from);
    });
  return out;
}

std::string disagreement(const Grid& grid, const Type& whole, const Layout& layout,
                         const std::vector<Literal>& parts) {
  if (!whole.is_tensor()) return "";
  Literal all = assemble(grid, whole, layout, parts);
  std::size_t width = byte_width(whole.dtype());
  std::string out;
  for (std::int64_t device = 0; device < grid.devices(); ++device)
    each_element(grid, whole, layout, device, [&](std::int64_t from, std::int64_t to) {
      if (from < 0 || !out.empty()) return;
      const std::byte* mine =
          parts[static_cast<std::size_t>(device)].data() + static_cast<std::size_t>(to) * width;
      if (std::memcmp(mine, all.data() + static_cast<std::size_t>(from) * width, width) != 0)
        out = fmt::format("element {} differs on device {}", from, device);
    });
  return out;
}

}  // namespace strata::spmd
