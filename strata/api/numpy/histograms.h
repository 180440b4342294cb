// How often values occur.
#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

struct BinCount {
  internal::Named named = internal::Named();
  /// What an element counts; 1 unless given. The result has its dtype.
  std::optional<Array> weights = std::nullopt;
  std::int64_t minlength = 0;
  /// How long the result is; greater numbers are left out. Needed for a traced x: the greatest
  /// element says it otherwise.
  std::optional<std::int64_t> length = std::nullopt;
};
/// How often each of 0, 1, 2, ... occurs in a vector of integers; negative ones count as 0.
Array bincount(const Operand& x, const BinCount& options = {});

/// So many bins of equal width, or the edges of all of them.
class Bins {
 public:
  template <std::integral T>
  Bins(T count) : count_(static_cast<std::int64_t>(count)) {}  // NOLINT: implicit by intent
  Bins(Array edges) : edges_(std::move(edges)) {}              // NOLINT
  /// The edges, where they were given.
  const std::optional<Array>& edges() const { return edges_; }
  /// The number of bins; 0 where edges were given.
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
  std::optional<Array> edges_;
};
/// Lower and upper end of the bins; from the least to the greatest element where it is none.
using Range = std::optional<std::array<Array, 2>>;

struct Histogram {
  internal::Named named = internal::Named();
  Range range = std::nullopt;
  std::optional<Array> weights = std::nullopt;
  /// Divided by the widths and the whole, so that the integral is 1.
  bool density = false;
};
/// The edges of the bins: one more than bins. Ends that are equal are moved apart by 1/2 each.
Array histogram_bin_edges(const Operand& x, const Bins& bins = 10,
                          const Range& range = std::nullopt);
/// How many elements (or how much weight) each bin has, in x's float dtype, and the edges. A bin
/// has its lower edge and not its upper one, but the last has both.
[[nodiscard]] std::pair<Array, Array> histogram(const Operand& x, const Bins& bins = 10,
                                                const Histogram& options = {});

struct HistogramDD {
  internal::Named named = internal::Named();
  /// One for each dimension; all none where left out.
  std::vector<Range> range = {};
  std::optional<Array> weights = std::nullopt;
  bool density = false;
};
/// A histogram in d dimensions of samples [n, d]: counts (i32, or of the weights' dtype) and the
/// edges of each dimension. Bins: one for each dimension, or one for all.
[[nodiscard]] std::pair<Array, std::vector<Array>> histogramdd(const Operand& sample,
                                                               const std::vector<Bins>& bins = {10},
                                                               const HistogramDD& options = {});
/// A histogram of points (x, y): counts and the edges along x and y.
[[nodiscard]] std::tuple<Array, Array, Array> histogram2d(const Operand& x, const Operand& y,
                                                          const std::vector<Bins>& bins = {10},
                                                          const HistogramDD& options = {});

}  // namespace strata::numpy

namespace strata {

using numpy::bincount;
using numpy::histogram;
using numpy::histogram2d;
using numpy::histogram_bin_edges;
using numpy::histogramdd;

}  // namespace strata
