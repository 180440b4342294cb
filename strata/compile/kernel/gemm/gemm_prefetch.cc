#include "strata/compile/kernel/gemm/gemm_prefetch.h"

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {
namespace {

constexpr std::size_t kLeast =
    256 << 10;  // bytes of an array that the second cache may not hold beside what tiles read
constexpr std::int64_t kMostLines = 2;  // that an iteration asks for: a few of its dozens of loads

/// By how many elements neighbours along several dimensions, taken as one, are apart.
std::optional<std::int64_t> stride(const GemmOperand& side, const std::vector<int>& dims,
                                   const std::vector<std::int64_t>& strides) {
  std::optional<std::int64_t> inner;
  std::int64_t count = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::int64_t size = side.value->shape()[dims[i]],
                       step = strides[static_cast<std::size_t>(dims[i])];
    if (size == 1) continue;
    if (inner && step != *inner * count) return {};
    if (!inner) inner = step;
    count *= size;
  }
  return inner;
}

}  // namespace

std::optional<OperandPrefetch> OperandPrefetch::of(const GemmOperand& side, const Fusion& fusion,
                                                   std::int64_t free, std::int64_t tiles,
                                                   std::int64_t turn) {
  std::optional<Placement> lies = placement(side.value, fusion);
  if (!lies || lies->array->type().bytes() < kLeast) return {};
  const auto step = stride(side, side.contract, lies->strides),
             row = stride(side, side.free, lies->strides);
  if (!step || !row || (*step != 1 && *row != 1)) return {};
  OperandPrefetch out(side);
  out.array_ = lies->array;
  out.begin_ = lies->begin;
  out.strides_ = std::move(lies->strides);
  out.tiles_ = tiles;
  out.along_ = turn * *step;
  if (*step == 1) {  // rows along the sum: an iteration's elements are within one line of each
    out.across_ = *row;
    out.units_ = free;
  } else {  // steps of the sum, each of a few lines
    out.line_ = kCacheLine / static_cast<std::int64_t>(byte_width(side.value->dtype()));
    out.lines_ = (free + out.line_ - 1) / out.line_;
    out.across_ = *step;
    out.units_ = out.lines_ * turn;
  }
  out.each_ = (out.units_ + tiles - 1) / tiles;
  if (out.each_ > kMostLines) return {};
  return out;
}

Index OperandPrefetch::begin(loop::Builder& b, const Index& batch, const Index& free,
                             const Index& k) const {
  const std::vector<Index> index = side_.index(b, batch, free, k);
  Index out = begin_;
  for (std::size_t d = 0; d < index.size(); ++d) out = out + index[d] * strides_[d];
  return out;
}

void OperandPrefetch::fetch(loop::Builder& b, loop::Ref* memory, const Index& begin,
                            const Index& tile, const Index& turn) const {
  for (std::int64_t u = 0; u < each_; ++u) {
    const Index unit = each_ > 1 ? tile * each_ + u : b.div(tile * units_, tiles_);
    const Index place =
        lines_ > 1 ? b.div(unit, lines_) * across_ + b.mod(unit, lines_) * line_ : unit * across_;
    b.fetch(memory, begin + place + turn * along_);
  }
}

}  // namespace strata::compile
