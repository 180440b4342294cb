#include "strata/partition/halo.h"

#include <algorithm>
#include <string_view>

#include "strata/op/reduce/windows.h"

namespace strata::spmd {
namespace {

using ir::Ints;
using op::Builder;
using op::Op;
using op::Value;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

bool is_windowed(const Op& op) {
  return op.name() == "stablehlo.reduce_window" || op.name() == "stablehlo.convolution";
}

/// One dimension of a padded, dilated array and of the windows on it; pad is windows of one.
struct Along {
  std::int64_t size = 1, stride = 1, dilation = 1, window_dilation = 1, low = 0;
  /// Of `part` places in a row, the distance from the first element read to the last one.
  std::int64_t reach(std::int64_t part) const {
    return (part - 1) * stride + (size - 1) * window_dilation;
  }
  /// Elements of the array that the part reads, the first of which stands `lead` behind the
  /// part's first place in the dilated array.
  std::int64_t lead() const { return ceil_div(-low, dilation) * dilation + low; }
  std::int64_t extent(std::int64_t part) const {
    return std::max<std::int64_t>(floor_div(reach(part) - lead(), dilation) + 1, 0);
  }
};

Along along(const Op& op, const MovedDim& d) {
  Along out;
  auto entry = [&](const char* name, int at, std::int64_t otherwise) {
    if (!op.attrs.has(name)) return otherwise;
    return op.attr<Ints>(name)[static_cast<std::size_t>(at)];
  };
  if (op.name() == "stablehlo.pad") {
    out.low = entry("edge_padding_low", d.operand, 0);
    out.dilation = entry("interior_padding", d.operand, 0) + 1;
    return out;
  }
  bool is_conv = op.name() == "stablehlo.convolution";
  int at = is_conv ? d.index : d.operand;
  out.stride = entry("window_strides", at, 1);
  out.dilation = entry(is_conv ? "lhs_dilation" : "base_dilations", at, 1);
  out.window_dilation = entry(is_conv ? "rhs_dilation" : "window_dilations", at, 1);
  out.low = entry("padding", 2 * at, 0);
  if (is_conv) {
    auto kernel = op.attr<Ints>("kernel_spatial_dimensions")[static_cast<std::size_t>(at)];
    out.size = op.operand(1)->shape()[static_cast<int>(kernel)];
  } else {
    out.size = entry("window_dimensions", at, 1);
  }
  return out;
}

void set_entry(ir::Attrs& attrs, const char* name, std::size_t count, int at, std::int64_t value) {
  Ints list = attrs.has(name) ? attrs.get<Ints>(name) : Ints(count, 0);
  list[static_cast<std::size_t>(at)] = value;
  attrs.set(name, std::move(list));
}

/// For each distance between a tile and one that it reads: rows [begin, end) of the latter that
/// some tile reads.
struct Hop {
  std::int64_t distance = 0, begin = 0, end = 0;
};
std::vector<Hop> hops_of(const WindowRead& read, std::int64_t size, std::int64_t tiles) {
  std::int64_t part = ceil_div(size, tiles);
  std::vector<Hop> out;
  for (std::int64_t h = 1 - tiles; h < tiles; ++h) {
    Hop hop{h, part, 0};
    for (std::int64_t t = std::max<std::int64_t>(0, -h); t < std::min(tiles, tiles - h); ++t) {
      std::int64_t from = read.first + t * read.step - (t + h) * part;
      std::int64_t valid = std::min(part, size - (t + h) * part);
      std::int64_t begin = std::max<std::int64_t>(from, 0),
                   end = std::min(from + read.extent, valid);
      if (begin >= end) continue;
      hop.begin = std::min(hop.begin, begin);
      hop.end = std::max(hop.end, end);
    }
    if (hop.begin < hop.end) out.push_back(hop);
  }
  return out;
}

}  // namespace

std::vector<MovedDim> moved_dims(const Op& op, const op::Factors& factors) {
  std::string_view name = op.name();
  if (name != "stablehlo.slice" && name != "stablehlo.pad" && name != "stablehlo.reverse" &&
      name != "stablehlo.concatenate" && !is_windowed(op))
    return {};
  std::vector<MovedDim> out;
  int index = 0;
  auto dim_with = [](const std::vector<std::vector<int>>& dims, int f) {
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (dims[d] == std::vector<int>{f}) return static_cast<int>(d);
    return -1;
  };
  for (int f = 0; f < static_cast<int>(factors.kinds.size()); ++f) {
    if (factors.kinds[static_cast<std::size_t>(f)] != 'm') continue;
    MovedDim d{dim_with(factors.operands[0], f), dim_with(factors.results[0], f), index++};
    if (d.operand >= 0 && d.result >= 0) out.push_back(d);
  }
  return out;
}

std::optional<WindowRead> window_read(const Op& op, const MovedDim& d, int operand,
                                      std::int64_t part) {
  if (part <= 0) return std::nullopt;
  auto dim = static_cast<std::size_t>(d.operand);
  if (op.name() == "stablehlo.slice") {
    std::int64_t stride = op.attr<Ints>("strides")[dim];
    return WindowRead{op.attr<Ints>("start_indices")[dim], part * stride, (part - 1) * stride + 1};
  }
  if (op.name() == "stablehlo.reverse")
    return WindowRead{op.operand(0)->shape()[d.operand] - part, -part, part};
  if (op.name() == "stablehlo.concatenate") {
    std::int64_t before = 0;
    for (int i = 0; i < operand; ++i) before += op.operand(i)->shape()[d.operand];
    return WindowRead{-before, part, part};
  }
  Along a = along(op, d);
  if (is_windowed(op)) {
    // A window as large as the part may be a cumulative sum, which adds in an order of its own; and
    // a reduction asks which dimensions have more than one element.
    if (op.name() == "stablehlo.reduce_window" && (a.size > part || part < 2)) return std::nullopt;
    if (a.size == 0) return std::nullopt;
  }
  if (part * a.stride % a.dilation != 0) return std::nullopt;
  std::int64_t extent = a.extent(part);
  if (extent < (is_windowed(op) ? 2 : 1)) return std::nullopt;
  return WindowRead{ceil_div(-a.low, a.dilation), part * a.stride / a.dilation, extent};
}

void set_local_window(ir::Attrs& attrs, const Op& op, const MovedDim& d, std::int64_t part) {
  std::size_t rank = static_cast<std::size_t>(op.operand(0)->rank());
  if (op.name() == "stablehlo.slice") {
    std::int64_t stride = op.attr<Ints>("strides")[static_cast<std::size_t>(d.operand)];
    set_entry(attrs, "start_indices", rank, d.operand, 0);
    set_entry(attrs, "limit_indices", rank, d.operand, (part - 1) * stride + 1);
    return;
  }
  if (op.name() != "stablehlo.pad" && !is_windowed(op)) return;
  Along a = along(op, d);
  std::int64_t low = a.lead(), high = a.reach(part) - low - (a.extent(part) - 1) * a.dilation;
  if (op.name() == "stablehlo.pad") {
    set_entry(attrs, "edge_padding_low", rank, d.operand, low);
    set_entry(attrs, "edge_padding_high", rank, d.operand, high);
    return;
  }
  bool is_conv = op.name() == "stablehlo.convolution";
  int at = is_conv ? d.index : d.operand;
  std::size_t count = 2 * (is_conv ? rank - 2 : rank);
  set_entry(attrs, "padding", count, 2 * at, low);
  set_entry(attrs, "padding", count, 2 * at + 1, high);
}

std::int64_t rows_received(const WindowRead& read, std::int64_t size, std::int64_t tiles) {
  std::int64_t out = 0;
  for (const Hop& h : hops_of(read, size, tiles))
    if (h.distance != 0) out += h.end - h.begin;
  return out;
}

Value* read_window(Builder& b, Emitter& emit, const Grid& grid, Value* x, std::int64_t size,
                   int dim, const Axes& axes, bool is_whole, const WindowRead& read,
                   Value* padding) {
  const std::int64_t tiles = grid.product(axes);
  auto rank = static_cast<std::size_t>(x->rank());
  auto padded = [&](Value* value, std::int64_t low, std::int64_t high, Value* with) {
    if (low == 0 && high == 0) return value;
    Ints lows(rank, 0), highs(rank, 0);
    lows[static_cast<std::size_t>(dim)] = low;
    highs[static_cast<std::size_t>(dim)] = high;
    return op::pad(b, value, with, lows, highs);
  };
  auto nothing = [&] { return op::constant(b, Literal(Type::scalar(x->dtype()))); };
  // Where the rows of the device begin in the array, in the order of devices.
  Ints begins;
  for (std::int64_t d = 0; d < grid.devices(); ++d)
    begins.push_back(read.first + grid.tile(d, axes) * read.step);
  auto [least, most] = std::minmax_element(begins.begin(), begins.end());
  const std::int64_t before = std::max<std::int64_t>(0, -*least),
                     behind = std::max<std::int64_t>(0, *most + read.extent - size);
  auto take = [&](Value* rows, const Ints& starts) {
    op::Values at;
    for (std::size_t d = 0; d < rank; ++d)
      at.push_back(d == static_cast<std::size_t>(dim) ? emit.at_device(b, starts)
                                                      : op::scalar(b, DType::i32, 0));
    Ints sizes = rows->shape().sizes();
    sizes[static_cast<std::size_t>(dim)] = read.extent;
    return op::dynamic_slice(b, rows, at, sizes);
  };
  if (is_whole) {
    Ints starts = begins;
    for (std::int64_t& s : starts) s += before;
    return take(padded(x, before, behind, padding != nullptr ? padding : nothing()), starts);
  }
  const std::int64_t part = x->shape()[dim];
  std::vector<Hop> hops = hops_of(read, size, tiles);
  // Tiles side by side, from the first distance to the last one; rows that nobody reads are absent
  // from the exchange and anything here.
  std::int64_t low = hops.empty() ? 0 : hops.front().distance,
               high = hops.empty() ? 0 : hops.back().distance;
  op::Values pieces;
  std::size_t next = 0;
  for (std::int64_t h = low; h <= high; ++h) {
    if (next == hops.size() || hops[next].distance != h) {
      Ints sizes = x->shape().sizes();
      sizes[static_cast<std::size_t>(dim)] = part;
      pieces.push_back(op::broadcast_in_dim(b, nothing(), Shape::of(sizes), {}));
      continue;
    }
    const Hop& hop = hops[next++];
    if (h == 0) {
      pieces.push_back(x);
      continue;
    }
    Value* rows = emit.shift(b, op::slice_dim(b, x, dim, hop.begin, hop.end), axes, h);
    pieces.push_back(padded(rows, hop.begin, part - hop.end, nothing()));
  }
  Value* side_by_side = pieces.size() == 1 ? pieces[0] : op::concatenate(b, pieces, dim);
  // Where a tile's rows begin in it; beyond its ends all is padding.
  Ints starts;
  for (std::int64_t d = 0; d < grid.devices(); ++d)
    starts.push_back(begins[static_cast<std::size_t>(d)] - (grid.tile(d, axes) + low) * part);
  std::int64_t reach = part * (high - low + 1), more = 0, beyond = 0;
  for (std::int64_t s : starts) {
    more = std::max(more, -s);
    beyond = std::max(beyond, s + read.extent - reach);
  }
  for (std::int64_t& s : starts) s += more;
  Value* out = take(padded(side_by_side, more, beyond, nothing()), starts);
  if (padding == nullptr || (before == 0 && behind == 0)) return out;
  Type places(DType::i32, out->shape());
  Value* at = op::add(b, op::iota(b, places, dim),
                      op::broadcast_in_dim(b, emit.at_device(b, begins), out->shape(), {}));
  Value* inside =
      op::and_(b, op::compare(b, at, op::constant(b, places, 0), "GE"),
               op::compare(b, at, op::constant(b, places, static_cast<double>(size)), "LT"));
  return op::select(b, inside, out, op::broadcast_in_dim(b, padding, out->shape(), {}));
}

Value* joined_parts(Builder& b, Emitter& emit, const Grid& grid, const Op& op, const op::Values& xs,
                    int dim, const Layout& layout) {
  Type places(DType::i32, local_shape(grid, op.result()->shape(), layout));
  Value* first =
      emit.tile_begin(b, layout.dims[static_cast<std::size_t>(dim)], places.shape()[dim]);
  Value* at =
      op::add(b, op::iota(b, places, dim), op::broadcast_in_dim(b, first, places.shape(), {}));
  Value* out = nullptr;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    std::int64_t size = op.operands[i]->shape()[dim];
    if (size == 0) continue;
    Value* begin = op::constant(b, places, static_cast<double>(before));
    out = out == nullptr ? xs[i] : op::select(b, op::compare(b, at, begin, "LT"), out, xs[i]);
    before += size;
  }
  return out;
}

}  // namespace strata::spmd
