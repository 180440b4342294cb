#include "strata/partition/explicit/explicit_reshape.h"

#include <algorithm>

namespace strata::spmd {
namespace {

using Axes = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

bool is_whole(const DimAxes& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Axes& a) { return a.empty(); });
}
Sizes without_ones(const Sizes& sizes) {
  Sizes out;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(out),
               [](std::int64_t n) { return n != 1; });
  return out;
}

/// Axes of dimensions that are not 1, handed on in order.
DimAxes past_ones(const DimAxes& operand, const Sizes& before, const Sizes& after) {
  DimAxes kept, out;
  for (std::size_t d = 0; d < before.size(); ++d)
    if (before[d] != 1) kept.push_back(operand[d]);
  std::size_t next = 0;
  for (std::int64_t n : after) out.push_back(n == 1 ? Axes() : kept[next++]);
  return out;
}

/// How many of the fine dimensions make up each coarse one, where at most one coarse dimension is
/// made of several; nothing otherwise.
std::optional<std::vector<std::size_t>> groups(const Sizes& coarse, const Sizes& fine) {
  if (fine.size() <= coarse.size()) return std::nullopt;
  std::vector<std::size_t> out;
  std::size_t at = 0;
  int several = 0;
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    if (at < fine.size() && coarse[i] == fine[at]) {
      ++at;
      out.push_back(1);
      continue;
    }
    if (++several > 1) return std::nullopt;
    // What the dimensions behind this one need is left for them.
    const std::size_t behind = coarse.size() - i - 1;
    if (fine.size() < at + behind) return std::nullopt;
    const std::size_t count = fine.size() - at - behind;
    std::int64_t product = 1;
    for (std::size_t k = 0; k < count; ++k) product *= fine[at + k];
    if (count == 0 || product != coarse[i]) return std::nullopt;
    at += count;
    out.push_back(count);
  }
  return at == fine.size() ? std::optional(out) : std::nullopt;
}

/// Hands axes to dimensions of these sizes, the major first: each takes axes while it has room.
/// Nothing where an axis does not divide what is left, or is left over.
std::optional<DimAxes> handed_out(const Axes& axes, const Sizes& sizes,
                                  const mesh::AbstractMesh& mesh) {
  DimAxes out;
  std::size_t next = 0;
  for (std::int64_t room : sizes) {
    Axes& mine = out.emplace_back();
    while (room > 1 && next < axes.size()) {
      const std::int64_t n = mesh.axis_size(axes[next]);
      if (room % n != 0) return std::nullopt;
      room /= n;
      mine.push_back(axes[next++]);
    }
  }
  return next == axes.size() ? std::optional(out) : std::nullopt;
}

std::optional<DimAxes> split_one(const DimAxes& operand, const std::vector<std::size_t>& counts,
                                 const Sizes& after, const mesh::AbstractMesh& mesh) {
  DimAxes out;
  for (std::size_t d = 0; d < operand.size(); ++d) {
    if (counts[d] == 1) {
      out.push_back(operand[d]);
      continue;
    }
    const auto first = after.begin() + static_cast<std::ptrdiff_t>(out.size());
    const auto parts =
        handed_out(operand[d], Sizes(first, first + static_cast<std::ptrdiff_t>(counts[d])), mesh);
    if (!parts) return std::nullopt;
    out.insert(out.end(), parts->begin(), parts->end());
  }
  return out;
}

std::optional<DimAxes> merge_one(const DimAxes& operand, const std::vector<std::size_t>& counts,
                                 const Sizes& after, const mesh::AbstractMesh& mesh) {
  DimAxes out;
  std::size_t at = 0;
  for (std::size_t d = 0; d < after.size(); ++d) {
    if (counts[d] == 1) {
      out.push_back(operand[at++]);
      continue;
    }
    Axes axes;
    bool ended = false;  // whether a whole dimension stood before
    for (std::size_t k = 0; k < counts[d]; ++k) {
      const Axes& mine = operand[at++];
      if (ended && !mine.empty()) return std::nullopt;
      ended |= mine.empty();
      axes.insert(axes.end(), mine.begin(), mine.end());
    }
    const auto merged = handed_out(axes, {after[d]}, mesh);
    if (!merged) return std::nullopt;
    out.push_back(merged->front());
  }
  return out;
}

}  // namespace

std::optional<DimAxes> reshaped(const DimAxes& operand, const Sizes& before, const Sizes& after,
                                const mesh::AbstractMesh& mesh) {
  if (is_whole(operand)) return DimAxes(after.size());
  if (without_ones(before) == without_ones(after)) return past_ones(operand, before, after);
  if (const auto split = groups(before, after)) return split_one(operand, *split, after, mesh);
  if (const auto merge = groups(after, before)) return merge_one(operand, *merge, after, mesh);
  return std::nullopt;
}

}  // namespace strata::spmd
