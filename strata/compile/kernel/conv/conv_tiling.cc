#include "strata/compile/kernel/conv/conv_tiling.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {
namespace {

using Sizes = ConvTiling::Sizes;
using Axis = ConvTiling::Axis;

constexpr std::int64_t kMostDepth =
    1152;  // of k in a block, so that a panel of kPanelLanes columns stays close
constexpr std::int64_t kPanelLanes = 32, kLeastDepth = 128;
constexpr std::int64_t kMostDepthAlong = 4608;  // with few columns, of which a panel has few lines
constexpr std::int64_t kMostRows = 512;         // of results in a block
constexpr std::int64_t kPatchBytes =
    384 << 10;  // of the array in a block: with the panels well inside the second cache
constexpr std::int64_t kPatchBytesAlong = 512 << 10;

/// `sizes` cut into blocks: whole inner ones as long as no more than `most` elements come together,
/// then a part of one.
Sizes box_of(const Sizes& sizes, std::int64_t most, bool may_leave_rest) {
  Sizes box(sizes.size(), 1);
  std::int64_t elements = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    std::int64_t room = most / elements;
    if (sizes[i] <= room) {
      box[i] = sizes[i];
      elements *= sizes[i];
      continue;
    }
    std::int64_t divisor = largest_divisor(sizes[i], room);
    box[i] = divisor * 2 >= room                    ? divisor
             : may_leave_rest                       ? room
             : divisor * 8 >= room || elements > 64 ? divisor
                                                    : sizes[i];
    break;
  }
  return box;
}

}  // namespace

int windows_side(const ir::Op& product, const Fusion& fusion) {
  for (int side = 0; side < 2; ++side) {
    const ir::Value* v = product.operand(side);
    if (!v->op() || !fusion.inlined.count(v)) continue;
    auto dims = op::window_dims(*v->op());
    if (!dims) continue;
    for (int d = 0; d < dims->rank(); ++d)
      if (!dims->is_trivial(d)) return side;
  }
  return -1;
}

std::int64_t elements_of(const Sizes& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{1}, std::multiplies<>());
}

Sizes lengths_of(const std::vector<Axis>& axes) {
  Sizes out;
  for (const Axis& a : axes) out.push_back(a.size);
  return out;
}

bool few_columns_of_long_rows(const GemmOperand& windows, const op::WindowDims& dims,
                              std::int64_t columns, bool wide_registers) {
  constexpr std::int64_t kFew = 7, kLong = 12, kMost = 12, kFarthest = 4, kManyTerms = 96;
  const bool many = wide_registers && windows.size(windows.contract) >=
                                          kManyTerms;  // results are stored a column at a time
  for (std::size_t i = windows.free.size(); i-- > 0;) {
    int d = windows.free[i], of = d - dims.rank();
    std::int64_t size = windows.value->shape()[d];
    if (size == 1) continue;
    return columns <= (many ? kMost : kFew) && size >= kLong && of >= 0 &&
           dims.stride[static_cast<std::size_t>(of)] <= (many ? kFarthest : 1);
  }
  return false;
}

ConvTiling::ConvTiling(const ir::Op& product, const op::Contraction& c, int side,
                       const Fusion& fusion, const CpuTarget& target)
    : swapped(side == 1),
      seen(product.operand(side), side == 0 ? c.lhs_batch : c.rhs_batch,
           side == 0 ? c.lhs_contract : c.rhs_contract),
      other(product.operand(1 - side), side == 0 ? c.rhs_batch : c.lhs_batch,
            side == 0 ? c.rhs_contract : c.lhs_contract),
      windows(*seen.value->op()),
      dims(*op::window_dims(windows)),
      accumulator(op::product_accumulator(product)) {
  other.minor = minor_dimension(other.value, fusion);
  rows = axes(seen.free);
  depth = axes(seen.contract);
  batch = seen.size(seen.batch);
  m = seen.size(seen.free);
  n = other.size(other.free);
  if (uses_bf16_pairs(product, target)) pair = join_pairs();
  for (const Axis& a : depth) k *= a.size;
  if (const auto chains = op::sum_chains(product)) {
    const Sizes sizes = lengths_of(depth);
    const op::SumChains own = pair ? op::box_chains(sizes) : *chains;  // of pairs by the processor
    chain = op::box_of(sizes, own.chain);
    group_ = op::box_of(sizes, own.group);
  }
  tile = register_tile(accumulator, target);
  along = few_columns_of_long_rows(seen, dims, n, target.avx512);
  if (!along && n <= tile.lanes / 4)
    tile = narrow_tile(tile, n, target);
  else if (n <= tile.lanes / 2)
    tile = {tile.rows * 3 / 2, tile.lanes / 2};
  choose_blocks();
  packs_first = other.contracts_minor() && row_blocks() > 1;
}

std::int64_t ConvTiling::blocks(const std::vector<Axis>& axes, const Sizes& box) {
  std::int64_t out = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) out *= (axes[i].size + box[i] - 1) / box[i];
  return out;
}

/// These dimensions of the windows, but those of one element.
std::vector<Axis> ConvTiling::axes(const std::vector<int>& dims_of_windows) const {
  std::vector<Axis> out;
  for (int d : dims_of_windows) {
    auto at = static_cast<std::size_t>(d);
    bool count = at >= rank();
    std::size_t dim = count ? at - rank() : at;
    if (std::int64_t size = seen.value->shape()[d]; size > 1)
      out.push_back({size, count ? dims.stride[dim] : dims.window_dilation[dim], dim});
  }
  return out;
}

/// Takes neighbours as pairs where their number is even, or where nothing else moves along their
/// dimension of the array (features mostly), so that it is known which is the last.
std::optional<ConvTiling::Pair> ConvTiling::join_pairs() {
  if (depth.empty()) return std::nullopt;
  Axis& a = depth.back();
  int moving = 0;
  for (const auto* of : {&seen.batch, &seen.free, &seen.contract})
    moving += static_cast<int>(std::count_if(of->begin(), of->end(), [&](int d) {
      return static_cast<std::size_t>(d) % rank() == a.dim && seen.value->shape()[d] > 1;
    }));
  if (moving > 1 && a.size % 2 != 0) return std::nullopt;
  const Pair out{a.size, a.step};
  a.size = (a.size + 1) / 2;
  a.step *= 2;
  return out;
}

/// Blocks of at most so many rows and so much of k. What they see of a dimension is counted in the
/// steps that both make there.
void ConvTiling::cut(std::int64_t most_rows, std::int64_t most_depth) {
  row_box = box_of(lengths_of(rows), most_rows, true);
  depth_box = chain ? group_ : box_of(lengths_of(depth), most_depth, false);
  unit.assign(rank(), 0);
  auto join = [&](const std::vector<Axis>& axes, const Sizes& box) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (box[i] > 1) unit[axes[i].dim] = std::gcd(unit[axes[i].dim], axes[i].step);
  };
  join(rows, row_box);
  join(depth, depth_box);
  for (std::int64_t& u : unit) u = std::max<std::int64_t>(u, 1);
}

Sizes ConvTiling::extents(const Sizes& block_rows) const {
  Sizes out(rank(), 1);
  auto widen = [&](const std::vector<Axis>& axes, const Sizes& box) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      out[axes[i].dim] += (box[i] - 1) * axes[i].step / unit[axes[i].dim];
  };
  widen(rows, block_rows);
  widen(depth, depth_box);
  return out;
}

/// Shape alone decides: blocks of which the caches hold what they see, by which the least is moved,
/// and enough for the threads.
void ConvTiling::choose_blocks() {
  nc = std::min(padded(n), padded(256));
  const std::int64_t deepest =
                         along ? kMostDepthAlong
                               : kMostDepth * std::max<std::int64_t>(1, kPanelLanes / tile.lanes),
                     patch_bytes = along ? kPatchBytesAlong : kPatchBytes;
  std::int64_t most_rows = tile.rows, most_depth = kLeastDepth,
               least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t d = deepest; d >= kLeastDepth; d /= 2)
    for (std::int64_t r = kMostRows; r >= tile.rows; r /= 2) {
      cut(r, d);
      const bool fits =
          elements_of(extents(row_box)) * static_cast<std::int64_t>(byte_width(accumulator)) <=
          patch_bytes;
      if (const std::int64_t moved = elements_moved(); fits && moved < least)
        most_rows = r, most_depth = d, least = moved;
    }
  cut(most_rows, most_depth);
  auto points = [&] { return batch * row_blocks() * column_blocks(); };
  if (points() < 8 && most_rows > 256) cut(most_rows /= 2, most_depth);
  while (points() < 8 && nc > tile.lanes) nc = padded(nc / 2);
  while (points() < 6 && most_rows > 64) cut(most_rows /= 2, most_depth);
  nc = std::min(nc, n);
  lay_out_patch();
}

/// By the blocks as they are cut: what is laid out of the array and of the other side, and the sums
/// that wait between blocks of k.
std::int64_t ConvTiling::elements_moved() const {
  const std::int64_t patches =
      row_blocks() * depth_blocks() * column_blocks() * elements_of(extents(row_box));
  return patches + row_blocks() * k * n + 2 * (depth_blocks() - 1) * m * padded(n);
}

/// Dimensions in the order in which k walks through them, so that a tile reads on and on; one that
/// k does not walk through is outside of all, or inside where neighbours in memory are neighbours
/// in it. Lanes are neighbours in any case.
void ConvTiling::lay_out_patch() {
  Sizes extent = extents(row_box);
  std::size_t minor = rank();
  while (minor > 1 && extent[minor - 1] == 1) --minor;
  auto key = [&](std::size_t d) {
    if (along && d == rows.back().dim) return static_cast<int>(depth.size()) + 1;
    int out = d + 1 == minor ? static_cast<int>(depth.size()) : -1;
    for (std::size_t i = 0; i < depth.size(); ++i)
      if (depth[i].dim == d) out = static_cast<int>(i);
    return out;
  };
  std::vector<std::size_t> order(rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  pitch.assign(rank(), 0);
  std::int64_t at = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    pitch[*d] = at;
    if (extent[*d] == 1) continue;
    at *= extent[*d];
    std::int64_t width = static_cast<std::int64_t>(byte_width(accumulator));
    if (at * width % 1024 == 0)
      at += 64 / width;  // what is in few sets of the first cache pushes each other out (Zen 3: 3
                         // x 3 of 4 x 14 x 14 x 512 to 512 41.5 ms, 35.8 so)
  }
  patch_size = at;
}

std::optional<ConvTiling::Square> ConvTiling::transpose_tile_of(const Sizes& extent) const {
  std::size_t in_memory = rank(), in_patch = rank();
  for (std::size_t d = 0; d < rank(); ++d) {
    if (extent[d] > 1) in_memory = d;
    if (extent[d] > 1 && pitch[d] == 1) in_patch = d;
  }
  if (in_memory == in_patch || in_patch == rank() || in_memory + 1 != rank() ||
      byte_width(accumulator) != 4)
    return std::nullopt;
  if ((unit[in_memory] != 1 && !(pair && in_memory == paired().dim && unit[in_memory] == 2)) ||
      extent[in_memory] < kTransposeTile || extent[in_patch] < kTransposeTile)
    return std::nullopt;
  return Square{in_memory, in_patch};
}

std::vector<ConvTiling::Run> ConvTiling::chain_runs() const {
  std::vector<Run> out;
  for (std::size_t i = 0; i < depth.size(); ++i)
    if (const std::int64_t count = depth_box[i] / (*chain)[i]; count > 1)
      out.push_back(
          {count, (*chain)[i] * (depth[i].step / unit[depth[i].dim]) * pitch[depth[i].dim]});
  return out;
}

std::vector<ConvTiling::Run> ConvTiling::runs(const Sizes& box) const {
  std::vector<Run> out;
  for (std::size_t i = depth.size(); i-- > 0;) {
    if (box[i] == 1) continue;
    std::int64_t step = depth[i].step / unit[depth[i].dim] * pitch[depth[i].dim];
    if (!out.empty() && step == out.back().count * out.back().step)
      out.back().count *= box[i];
    else
      out.push_back({box[i], step});
  }
  if (out.empty()) out.push_back({1, 0});
  return out;
}

}  // namespace strata::compile
