// debug::visualize_sharding: the table that upstream prints with the package rich, without colours.
// Source: jax/_src/debugging.py visualize_sharding. Deviation: a table wider than 80 columns stays
// as it is, where rich would squeeze its columns until numbers are lost.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "strata/api/sharding/sharding.h"
#include "strata/api/trace/trace.h"

namespace strata::debug {
namespace {

/// Upstream's defaults: scale 1, min_width 9, max_width 80.
constexpr int kBaseHeight = 10, kMinWidth = 9, kMaxWidth = 80;
constexpr double kHeightToWidth = 2.5;

struct Cell {
  std::string text;
  int width = 0, above = 0, below = 0;  // width with what is to the left and right of the text
  int left = 0;
};

/// Halves of what is over, the first the smaller.
std::pair<int, int> halves(int over) {
  // as Python's divmod: towards minus infinity
  const int low = over >= 0 ? over / 2 : (over - 1) / 2;
  return {low, low + over - 2 * low};
}

Cell cell_of(const std::set<std::int64_t>& devices, double share_of_width, double base_width,
             std::optional<double> share_of_height) {
  Cell out;
  out.text = fmt::format("CPU {}", fmt::join(devices, ","));
  const int length = static_cast<int>(out.text.size());
  int width = static_cast<int>(share_of_width * base_width * kHeightToWidth);
  const int height = share_of_height ? static_cast<int>(*share_of_height * kBaseHeight) : 1;
  width = std::min(std::max(width, kMinWidth), kMaxWidth);
  const auto [left, right] = halves(width - length - 2);
  const auto [above, below] = halves(height - 2);
  out.left = std::max(left, 0);
  out.width = length + out.left + std::max(right, 0);
  out.above = std::max(above, 0);
  out.below = std::max(below, 0);
  return out;
}

using Grid = std::vector<std::vector<Cell>>;

std::string table(const Grid& rows) {
  std::vector<int> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].width);
  const auto rule = [&](const char* left, const char* middle, const char* right) {
    std::string out = left;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      out += c > 0 ? middle : "";
      for (int i = 0; i < widths[c]; ++i) out += "─";
    }
    return out + right + "\n";
  };
  std::string out = rule("┌", "┬", "┐");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r > 0) out += rule("├", "┼", "┤");
    int height = 0, above = 0;
    for (const Cell& cell : rows[r]) {
      height = std::max(height, cell.above + 1 + cell.below);
      above = std::max(above, cell.above);
    }
    for (int line = 0; line < height; ++line) {
      for (std::size_t c = 0; c < widths.size(); ++c) {
        const Cell& cell = rows[r][c];
        std::string text;
        if (line == cell.above)
          text = std::string(static_cast<std::size_t>(cell.left), ' ') + cell.text;
        out += "│" + text + std::string(static_cast<std::size_t>(widths[c]) - text.size(), ' ');
      }
      out += "│\n";
    }
  }
  return out + rule("└", "┴", "┘");
}

std::string table_of(const Shape& shape, const std::vector<ShardIndex>& indices,
                     const std::vector<std::int64_t>& devices) {
  if (shape.rank() < 1 || shape.rank() > 2)
    internal::fail("visualize_sharding", "shows arrays of 1 or 2 dimensions, got {}",
                   internal::describe(shape));
  if (shape.count() == 0)
    internal::fail("visualize_sharding", "{} has no elements", internal::describe(shape));
  struct Part {
    std::set<std::int64_t> devices;
    double width = 0;
    std::optional<double> height;
  };
  const bool flat = shape.rank() == 1;
  std::map<std::pair<std::int64_t, std::int64_t>, Part> parts;
  const auto chunk = [](const mesh::Range& r) { return r.begin / (r.end - r.begin); };
  const auto share = [&](const mesh::Range& r, int d) {
    return static_cast<double>(r.end - r.begin) / static_cast<double>(shape[d]);
  };
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const ShardIndex& index = indices[i];
    Part& part = parts[flat ? std::pair(std::int64_t{0}, chunk(index[0]))
                            : std::pair(chunk(index[0]), chunk(index[1]))];
    part.devices.insert(devices[i]);
    part.width = share(index[flat ? 0 : 1], flat ? 0 : 1);
    if (!flat) part.height = share(index[0], 0);
  }
  const double base_width = static_cast<int>(
      kBaseHeight * (static_cast<double>(flat ? 1 : shape[1]) / static_cast<double>(shape[0])));
  Grid rows;
  for (const auto& [at, part] : parts) {
    if (static_cast<std::size_t>(at.first) >= rows.size()) rows.emplace_back();
    rows.back().push_back(cell_of(part.devices, part.width, base_width, part.height));
  }
  return table(rows);
}

}  // namespace

std::string visualize_sharding(const Sizes& shape, const NamedSharding& sharding, Where where) {
  internal::Site site(where);
  return table_of(Shape::of(shape.get()), sharding.indices(shape.get()), sharding.mesh().devices());
}

std::string array_sharding_text(const Array& x, Where where) {
  internal::Site site(where);
  std::vector<ShardIndex> indices;
  std::vector<std::int64_t> devices;
  for (const Shard& shard : addressable_shards(x)) {
    indices.push_back(shard.index);
    devices.push_back(shard.device.id());
  }
  return table_of(x.shape(), indices, devices);
}

void visualize_array_sharding(const Array& x, Where where) {
  std::fputs((array_sharding_text(x, where) + "\n").c_str(), stdout);
}

}  // namespace strata::debug
